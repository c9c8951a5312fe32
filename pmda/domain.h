/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's number, and the only place that has it; 256-510 are free. */
#define KMMV 389
