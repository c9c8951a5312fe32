/* SPDX-License-Identifier: GPL-2.0-only */
/* The types of a kernel and of its module "qa_mod", made for tests of kmmvctl. */
#ifndef QA_CTL_BTF_H
#define QA_CTL_BTF_H

/* ctl_btf_write - ROOT/sys/kernel/btf/vmlinux and qa_mod; 0 or -errno */
int ctl_btf_write(const char *root);

#endif /* QA_CTL_BTF_H */
