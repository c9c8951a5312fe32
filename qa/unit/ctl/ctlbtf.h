/* SPDX-License-Identifier: GPL-2.0-only */
/* The types of a kernel and of its module "qa_mod", made for tests of kmmvctl. */
#ifndef QA_CTL_BTF_H
#define QA_CTL_BTF_H

#include <stdbool.h>

/* A struct whose name is cut in a message. */
#define CTL_BTF_LONG "a_struct_whose_name_is_longer_than_a_message_has"

/*
 * ctl_btf_write - ROOT/sys/kernel/btf/vmlinux and qa_mod; 0 or -errno
 * @moved: as another build has them: `level' is elsewhere in struct thing
 */
int ctl_btf_write(const char *root, bool moved);

#endif /* QA_CTL_BTF_H */
