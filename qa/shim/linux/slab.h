/* SPDX-License-Identifier: GPL-2.0-only */
/* In kmmv_deps.h. */
