// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a fuzz target on each file of its corpus: fuzz-NAME, of qa/fuzz/corpus/NAME.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name)
{
	static uint8_t bytes[1 << 20];
	char path[PATH_MAX];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
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
	const char *target = strchr(program_invocation_short_name, '-');
	struct dirent *entry;
	int count = 0, bad = 0;
	char folder[256];
	DIR *dir;

	snprintf(folder, sizeof(folder), "qa/fuzz/corpus/%s",
		 target ? target + 1 : "");
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		bad += replay(folder, entry->d_name) < 0;
	}
	if (dir)
		closedir(dir);
	printf("1..1\n%sok 1 - %d inputs of %s\n", count && !bad ? "" : "not ",
	       count, folder);
	return !count || bad;
}
