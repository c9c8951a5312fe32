// SPDX-License-Identifier: GPL-2.0-only
/* kmmvbtf ROOT [moved]: write types for qa/shipped/ctl */
#include <stdio.h>
#include <string.h>

#include "ctlbtf.h"

int main(int argc, char **argv)
{
	bool moved = argc == 3 && !strcmp(argv[2], "moved");
	int err = argc == 2 || moved ? ctl_btf_write(argv[1], moved) : -1;

	if (err)
		fprintf(stderr, "kmmvbtf: %s\n", strerror(-err));
	return !!err;
}
