// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a fuzz target on each file of the folder FUZZ_CORPUS.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *name)
{
	static uint8_t bytes[1 << 20];
	char path[512];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", FUZZ_CORPUS, name);
	file = fopen(path, "rb");
	if (!file)
		return -1;
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	return 0;
}

int main(void)
{
	struct dirent *entry;
	int count = 0, bad = 0;
	DIR *dir = opendir(FUZZ_CORPUS);

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		bad += replay(entry->d_name) < 0;
	}
	if (dir)
		closedir(dir);
	printf("1..1\n%sok 1 - %d inputs of %s\n",
	       count && !bad ? "" : "not ", count, FUZZ_CORPUS);
	return !count || bad;
}
