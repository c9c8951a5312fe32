/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's domain number, defined here only; PCP leaves 256-510 free. */
#define KMMV 389
