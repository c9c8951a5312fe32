// SPDX-License-Identifier: GPL-2.0-only
/*
 * A treap: a search tree in which no parent's priority is below its children's.
 */
#include <kmmv_deps.h>

static struct rb_node **link_of(struct rb_node *node, struct rb_root *root)
{
	if (!node->parent)
		return &root->rb_node;
	return node->parent->rb_left == node ? &node->parent->rb_left :
					       &node->parent->rb_right;
}

/* Rotate: the child takes its parent's place, and the parent the child's. */
static void rotate_up(struct rb_node *child, struct rb_root *root)
{
	struct rb_node *parent = child->parent;
	struct rb_node **link = link_of(parent, root), *middle;

	shim_steps++;
	if (parent->rb_left == child) {
		middle = child->rb_right;
		parent->rb_left = middle;
		child->rb_right = parent;
	} else {
		middle = child->rb_left;
		parent->rb_right = middle;
		child->rb_left = parent;
	}
	if (middle)
		middle->parent = parent;
	child->parent = parent->parent;
	parent->parent = child;
	*link = child;
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	static __thread u32 random = 1;

	random = random * 1664525u + 1013904223u;
	node->priority = random ^ random >> 16;
	while (node->parent && node->parent->priority < node->priority)
		rotate_up(node, root);
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *left, *right;

	while (node->rb_left || node->rb_right) {
		left = node->rb_left;
		right = node->rb_right;
		rotate_up(!right || (left && left->priority > right->priority) ?
				  left : right, root);
	}
	*link_of(node, root) = NULL;
}

struct rb_node *rb_prev(const struct rb_node *node)
{
	struct rb_node *other = node->rb_left;

	if (other) {
		while (other->rb_right)
			other = other->rb_right;
		return other;
	}
	for (other = node->parent; other && node == other->rb_left;
	     other = other->parent)
		node = other;
	return other;
}

struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *other = node->rb_right;

	shim_steps++;
	if (other) {
		for (; other->rb_left; shim_steps++)
			other = other->rb_left;
		return other;
	}
	for (other = node->parent; other && node == other->rb_right;
	     other = other->parent, shim_steps++)
		node = other;
	return other;
}
