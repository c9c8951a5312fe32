// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a compiler would make of
 *
 *	struct inside { int x; unsigned short y; };
 *	struct opaque;
 *	struct thing {			// bytes
 *		unsigned long long wide;	// 0
 *		int level;			// 8
 *		unsigned int low : 4, middle : 12, high : 16;	// 12
 *		char text[16];			// 16
 *		const char *string;		// 32
 *		struct thing *next;		// 40
 *		union { int either; unsigned short half; };	// 48
 *		struct { struct { long long deep; }; };		// 56
 *		u32 list[4];			// 64, u32 being a typedef of a typedef
 *		enum { MINUS = -1, PLUS } sign;	// 80
 *		enum { ZERO, ONE } bare;	// 84
 *		struct inside inside;		// 88
 *		struct inside array[3];		// 96
 *		unsigned char name[3];		// 120
 *		u8 raw[4];			// 123
 *		char long_text[100];		// 128
 *		int __percpu *percpu;		// 232
 *		char __user *user;		// 240
 *		void *address;			// 248
 *		struct opaque *opaque;		// 256
 *		unsigned long long far : 20, wide_bits : 40;	// 264
 *		unsigned __int128 huge;		// 272
 *		const volatile int changes;	// 288
 *		bool yes;			// 292
 *		int tail[];			// 296
 *		double ratio;			// 296
 *		union { ... } choice;		// 296
 *		struct ... *long_type;		// 296
 *		unsigned long long split : 20;	// in two words
 *	};
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ctlbtf.h"

static int u8, u16, u32, s32, u64, s64, u128, character, byte, truth;
static int thing, thing_ptr, string, inside, void_ptr;

static void add_integers(struct btf *b)
{
	s32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	character = btf__add_int(b, "char", 1, BTF_INT_SIGNED);
	byte = btf__add_int(b, "unsigned char", 1, 0);
	u16 = btf__add_int(b, "unsigned short", 2, 0);
	u32 = btf__add_int(b, "unsigned int", 4, 0);
	u64 = btf__add_int(b, "unsigned long long", 8, 0);
	s64 = btf__add_int(b, "long long", 8, BTF_INT_SIGNED);
	u128 = btf__add_int(b, "__int128 unsigned", 16, 0);
	truth = btf__add_int(b, "_Bool", 1, BTF_INT_BOOL);
	u8 = btf__add_typedef(b, "u8", btf__add_typedef(b, "__u8", byte));
	void_ptr = btf__add_ptr(b, 0);
	string = btf__add_ptr(b, btf__add_const(b, character));
}

static int add_inside(struct btf *b)
{
	int id = btf__add_struct(b, "inside", 8);

	btf__add_field(b, "x", s32, 0, 0);
	btf__add_field(b, "y", u16, 32, 0);
	return id;
}

static int add_anonymous(struct btf *b)
{
	int id = btf__add_union(b, NULL, 4);

	btf__add_field(b, "either", s32, 0, 0);
	btf__add_field(b, "half", u16, 0, 0);
	return id;
}

static int add_nested(struct btf *b)
{
	int inner = btf__add_struct(b, NULL, 8), outer;

	btf__add_field(b, "deep", s64, 0, 0);
	outer = btf__add_struct(b, NULL, 8);
	btf__add_field(b, NULL, inner, 0, 0);
	return outer;
}

static int add_sign(struct btf *b, int least)
{
	int id = btf__add_enum(b, least < 0 ? "sign" : "bare", 4);

	btf__add_enum_value(b, least < 0 ? "MINUS" : "ZERO", least);
	btf__add_enum_value(b, least < 0 ? "PLUS" : "ONE", 1);
	return id;
}

static int add_pointer(struct btf *b, const char *tag, int to)
{
	return btf__add_ptr(b, btf__add_type_tag(b, tag, to));
}

static int add_array(struct btf *b, int of, unsigned int nr)
{
	return btf__add_array(b, u32, of, nr);
}

static void add_thing(struct btf *b, bool moved)
{
	int either = add_anonymous(b), nested = add_nested(b);
	int number =
		btf__add_typedef(b, "u32", btf__add_typedef(b, "__u32", u32));
	const struct {
		const char *name;
		int type;
		unsigned int byte;
	} members[] = {
		{ "text", add_array(b, character, 16), 16 },
		{ "string", string, 32 },
		{ NULL, either, 48 },
		{ NULL, nested, 56 },
		{ "list", add_array(b, number, 4), 64 },
		{ "sign", add_sign(b, -1), 80 },
		{ "bare", add_sign(b, 0), 84 },
		{ "inside", inside, 88 },
		{ "array", add_array(b, inside, 3), 96 },
		{ "name", add_array(b, byte, 3), 120 },
		{ "raw", add_array(b, u8, 4), 123 },
		{ "long_text", add_array(b, character, 100), 128 },
		{ "percpu", add_pointer(b, "percpu", s32), 232 },
		{ "user", add_pointer(b, "user", character), 240 },
		{ "address", void_ptr, 248 },
		{ "opaque",
		  btf__add_ptr(b, btf__add_fwd(b, "opaque", BTF_FWD_STRUCT)),
		  256 },
		{ "huge", u128, 272 },
		{ "changes", btf__add_const(b, btf__add_volatile(b, s32)),
		  288 },
		{ "yes", truth, 292 },
		{ "tail", add_array(b, s32, 0), 296 },
		{ "ratio", btf__add_float(b, "double", 8), 296 },
		{ "choice", either, 296 },
		{ "long_type",
		  btf__add_ptr(b, btf__add_fwd(b, CTL_BTF_LONG CTL_BTF_LONG,
					       BTF_FWD_STRUCT)),
		  296 },
	};
	/* A pointer to what comes next. */
	int next = btf__add_ptr(b, btf__type_cnt(b) + 1);
	unsigned int i;

	thing_ptr = next;
	thing = btf__add_struct(b, "thing", moved ? 304 : 296);
	btf__add_field(b, "wide", u64, 0, 0);
	btf__add_field(b, "level", s32, (moved ? 296 : 8) * 8, 0);
	btf__add_field(b, "low", u32, 96, 4);
	btf__add_field(b, "middle", u32, 100, 12);
	btf__add_field(b, "high", u32, 112, 16);
	btf__add_field(b, "next", next, 320, 0);
	for (i = 0; i < sizeof(members) / sizeof(*members); i++)
		btf__add_field(b, members[i].name, members[i].type,
			       members[i].byte * 8, 0);
	btf__add_field(b, "far", u64, 264 * 8, 20);
	btf__add_field(b, "wide_bits", u64, 264 * 8 + 20, 40);
	btf__add_field(b, "split", u64, 264 * 8 + 60, 20);
}

static void add_function(struct btf *b, const char *name, int result,
			 const char *const *names, const int *types)
{
	int proto = btf__add_func_proto(b, result);

	for (; *names; names++, types++)
		btf__add_func_param(b, **names ? *names : NULL, *types);
	if (name)
		btf__add_func(b, name, BTF_FUNC_STATIC, proto);
}

#define ADD(b, name, result, names, types...)                               \
	add_function(b, name, result, (const char *const[]){ names, NULL }, \
		     (int[]){ types })
#define NAMES(...) __VA_ARGS__

static void add_functions(struct btf *b)
{
	ADD(b, "__traceiter_qa_hit", s32,
	    NAMES("__data", "thing", "number", "string", "small",
		  "other__nullable"),
	    void_ptr, thing_ptr, u64, string, u8, thing_ptr);
	ADD(b, "__traceiter_qa_value", s32, NAMES("__data", "inside", "after"),
	    void_ptr, inside, s32);
	ADD(b, "__traceiter_qa_wide", s32,
	    NAMES("__data", "a", "b", "c", "d", "e", "f", "g", "h", "i"),
	    void_ptr, u64, u64, u64, u64, u64, u64, u64, u64, u64);
	ADD(b, "qa_wide_call", s32,
	    NAMES("a", "b", "c", "d", "e", "f", "g", "h", "thing"), u64, u64,
	    u64, u64, u64, u64, u64, u64, thing_ptr);
	ADD(b, "qa_call", s32, NAMES("thing", "count"), thing_ptr, u64);
	ADD(b, "qa_other", s32, NAMES("thing"), thing_ptr);
	ADD(b, "qa_twice", s32, NAMES("count"), u64);
	ADD(b, "qa_twice", s32, NAMES("thing"), thing_ptr);
	ADD(b, "qa_struct", inside, NAMES("count"), u64);
	ADD(b, "qa_printf", s32, NAMES("format", ""), string, 0);
	ADD(b, "qa_none", s32, NULL, 0);
	/* A tracepoint of which only the type is known. */
	ADD(b, NULL, 0, NAMES("", "", ""), void_ptr, thing_ptr, u64);
	btf__add_typedef(b, "btf_trace_qa_old",
			 btf__add_ptr(b, btf__type_cnt(b) - 1));
	/* Neither is a pointer to a prototype. */
	btf__add_typedef(b, "btf_trace_qa_const",
			 btf__add_const(b, btf__type_cnt(b) - 3));
	btf__add_typedef(b, "btf_trace_qa_pointer", thing_ptr);
}

static void add_module(struct btf *b)
{
	ADD(b, "__traceiter_qa_mod_hit", s32, NAMES("__data", "thing", "size"),
	    void_ptr, thing_ptr, u64);
	ADD(b, "qa_mod_call", s32, NAMES("size"), u64);
}

static int write_one(const char *root, const char *name, const struct btf *b)
{
	char path[4096];
	const void *data;
	__u32 size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/kernel/btf/%s", root, name);
	data = btf__raw_data(b, &size);
	if (!data)
		return -ENOMEM;
	f = fopen(path, "we");
	if (!f)
		return -errno;
	if (fwrite(data, size, 1, f) != 1) {
		fclose(f);
		return -EIO;
	}
	return fclose(f) ? -EIO : 0;
}

int ctl_btf_write(const char *root, bool moved)
{
	static const char *const parts[] = { "", "/sys", "/sys/kernel",
					     "/sys/kernel/btf" };
	struct btf *kernel = btf__new_empty(), *module;
	char path[4096];
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
	}
	if (!kernel)
		return -ENOMEM;
	add_integers(kernel);
	inside = add_inside(kernel);
	add_thing(kernel, moved);
	add_functions(kernel);
	err = write_one(root, "vmlinux", kernel);
	module = btf__new_empty_split(kernel);
	if (module) {
		add_module(module);
		err = err ?: write_one(root, "qa_mod", module);
	}
	btf__free(module);
	btf__free(kernel);
	return module ? err : -ENOMEM;
}
