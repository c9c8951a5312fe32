// SPDX-License-Identifier: GPL-2.0-only
/* kmmvbtf ROOT: write types for qa/shipped/kmmvctl.sh */
#include <stdio.h>
#include <string.h>

#include "ctlbtf.h"

int main(int argc, char **argv)
{
	int err = argc == 2 ? ctl_btf_write(argv[1]) : -1;

	if (err)
		fprintf(stderr, "kmmvbtf: %s\n", strerror(-err));
	return !!err;
}
