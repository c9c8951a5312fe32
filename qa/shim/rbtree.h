/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A treap with the interface of the kernel's rbtree: nodes have a random
 * priority instead of a colour. Its depth is about the same. Included by
 * kmmv_deps.h.
 */
#ifndef SHIM_RBTREE_H
#define SHIM_RBTREE_H

struct rb_node {
	struct rb_node *parent, *rb_left, *rb_right;
	u32 priority;
};

struct rb_root {
	struct rb_node *rb_node;
};

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent,
				struct rb_node **link)
{
	*node = (struct rb_node){ .parent = parent };
	*link = node;
}

void rb_insert_color(struct rb_node *node, struct rb_root *root);
void rb_erase(struct rb_node *node, struct rb_root *root);
struct rb_node *rb_prev(const struct rb_node *node);
struct rb_node *rb_next(const struct rb_node *node);

/* Each visited node is a step. */
#define rb_entry(pointer, type, member)					\
	(shim_steps++, container_of(pointer, type, member))

#endif /* SHIM_RBTREE_H */
