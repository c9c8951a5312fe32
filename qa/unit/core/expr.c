// SPDX-License-Identifier: GPL-2.0-only
/* Expressions: their language, and what they take of memory. */
#include <sys/mman.h>

#include "expr.h"
#include "quiet.h"
#include "suite.h"

#include <stdlib.h>

static const char *const bad[] = {
	"", "x", "x=", "=arg0:8", "x=arg", "x=arg0", "x=arg:8", "x=arg-1:8",
	"x=arg256:8", "x=arg0:", "x=arg0:0", "x=arg0:3", "x=arg0:9",
	"x=arg0:16", "x=arg0:8z", "x=arg0:8us", "x=arg0@:8", "x=arg0@x:8",
	"x=arg0@2147483648:8", "x=arg0@1@2@3@4@5@6@7@8@9:8", "x=arg0:8@0",
	"x=arg0:16t", "x=arg0@0:0t", "x=arg0@0:65t", "x=arg0@0:65p",
	"x=arg0:4+", "x=arg0:4+1", "x=arg0:4+1.", "x=arg0:4+1.0",
	"x=arg0:4+30.3", "x=arg0:4+32.1", "x=arg0:8+1.64", "x=arg0:8+64.1",
	"x=arg0@0:8t+1.2", "x y=arg0:8", "x\n=arg0:8", "x=arg0:8\n",
	"x=ARG0:8", "x=arg0:99999999999999999999",
	"0123456789012345678901234567890123456789012345678901234567890123=arg0:8",
};

START_TEST(refused)
{
	const char *text = bad[_i];
	struct kmmv_expr expr;

	ck_assert_int_eq(kmmv_expr_parse(&expr, &text), -EINVAL);
}
END_TEST

static struct kmmv_expr parse(const char *text)
{
	struct kmmv_expr expr;

	ck_assert_int_eq(kmmv_expr_parse(&expr, &text), 0);
	ck_assert(!*text);
	return expr;
}

START_TEST(parsed)
{
	struct kmmv_expr expr = parse("a->b[3]=arg7@0@2147483647:4s+3.29");
	const char *text = "a=arg0:1 b=arg1:2x", *second = text + 9;

	ck_assert_str_eq(expr.name, "a->b[3]");
	ck_assert_int_eq(expr.arg, 7);
	ck_assert_int_eq(expr.loads, 2);
	ck_assert_int_eq(expr.offset[0], 0);
	ck_assert_int_eq(expr.offset[1], 2147483647);
	ck_assert_int_eq(expr.size, 4);
	ck_assert_int_eq(expr.kind, KMMV_EXPR_SIGNED);
	ck_assert_int_eq(expr.shift, 3);
	ck_assert_int_eq(expr.bits, 29);
	expr = parse("x=arg0@1@2@3@4@5@6@7@8:64p");
	ck_assert_int_eq(expr.loads, 8);
	ck_assert(kmmv_expr_is_text(&expr));
	ck_assert_int_eq(kmmv_expr_parse(&expr, &text), 0);
	ck_assert_str_eq(text, " b=arg1:2x");
	ck_assert_int_eq(kmmv_expr_parse(&expr, &second), 0);
	ck_assert_int_eq(expr.kind, KMMV_EXPR_HEX);
}
END_TEST

static u64 number(const char *text, unsigned long arg)
{
	struct kmmv_expr expr = parse(text);
	u64 value = 77;

	ck_assert_int_eq(kmmv_expr_number(&expr, arg, &value), 0);
	return value;
}

struct inner {
	char	pad[3];
	u8	byte;
	u16	word;
	short	small;
};

struct outer {
	struct inner	*inner;
	u64		big;
	u32		bits;
	char		name[8];
	const char	*string;
};


START_TEST(numbers)
{
	struct inner inner = { .byte = 200, .word = 40000, .small = -3 };
	struct outer outer = { .inner = &inner, .big = 1ULL << 63 | 5,
			       .bits = 0xabcd1234 };
	unsigned long at = (unsigned long)&outer;

	/* What is above an argument's size is not its own. */
	ck_assert_uint_eq(number("x=arg0:1", 0x1ff), 0xff);
	ck_assert_uint_eq(number("x=arg0:1s", 0x1ff), -1ULL);
	ck_assert_uint_eq(number("x=arg0:4s", 0x80000000), 0xffffffff80000000);
	ck_assert_uint_eq(number("x=arg0:4", 0x180000000), 0x80000000);
	ck_assert_uint_eq(number("x=arg0:8s", -5L), -5ULL);
	ck_assert_uint_eq(number("x=arg0:4+4.8", 0x12345678), 0x67);
	ck_assert_uint_eq(number("x=arg0:4s+4.8", 0x00000f80), 0xfffffffffffffff8);
	ck_assert_uint_eq(number("x=arg0:8+63.1", 1UL << 63), 1);
	ck_assert_uint_eq(number("x=arg0:8+0.64", -1UL), -1ULL);
	ck_assert_uint_eq(number("x=arg0@8:8", at), 1ULL << 63 | 5);
	ck_assert_uint_eq(number("x=arg0@16:4+8.12", at), 0xd12);
	ck_assert_uint_eq(number("x=arg0@0@3:1", at), 200);
	ck_assert_uint_eq(number("x=arg0@0@4:2", at), 40000);
	ck_assert_uint_eq(number("x=arg0@0@6:2s", at), -3ULL);
}
END_TEST

static unsigned long faulty;

/* A load that touches this byte fails. */
static bool fault(unsigned long from, size_t size)
{
	return from <= faulty && faulty < from + size;
}

START_TEST(faults)
{
	struct inner inner = { .word = 1 };
	struct outer outer = { .inner = &inner };
	struct kmmv_expr expr = parse("x=arg0@0@4:2");
	u64 value = 5;

	shim_fault = fault;
	faulty = (unsigned long)&outer.inner;
	ck_assert_int_eq(kmmv_expr_number(&expr, (unsigned long)&outer, &value),
			 -EFAULT);
	ck_assert_uint_eq(value, 0);
	faulty = (unsigned long)&inner.word + 1;
	ck_assert_int_eq(kmmv_expr_number(&expr, (unsigned long)&outer, &value),
			 -EFAULT);
	faulty++;
	ck_assert_int_eq(kmmv_expr_number(&expr, (unsigned long)&outer, &value),
			 0);
	ck_assert_uint_eq(value, 1);
	shim_fault = NULL;
}
END_TEST

static void check_text(const char *text, unsigned long arg, const char *is)
{
	struct kmmv_expr expr = parse(text);
	char got[KMMV_EXPR_TEXT_MAX], wanted[KMMV_EXPR_TEXT_MAX] = {};

	memset(got, '#', sizeof(got));
	memcpy(wanted, is, strlen(is));
	ck_assert_int_eq(kmmv_expr_text(&expr, arg, got), 0);
	ck_assert_mem_eq(got, wanted, expr.size);
	if (expr.size < sizeof(got))
		ck_assert_int_eq(got[expr.size], '#');
}

START_TEST(texts)
{
	struct outer outer = { .name = "ab\0cdef", .string = "a string" };
	unsigned long at = (unsigned long)&outer;

	check_text("x=arg0@20:8t", at, "ab");
	check_text("x=arg0@20:2t", at, "ab");
	memcpy(outer.name, "12345678", 8);
	check_text("x=arg0@20:8t", at, "12345678");
	check_text("x=arg0@32:16p", at, "a string");
	check_text("x=arg0@32:3p", at, "a s");
	check_text("x=arg0:16p", (unsigned long)"it", "it");
	check_text("x=arg0:1p", (unsigned long)"", "");
}
END_TEST

/* A string that ends at the end of a page, behind which there is nothing. */
START_TEST(edge)
{
	char *pages = mmap(NULL, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kmmv_expr expr = parse("x=arg0:64p");
	char text[KMMV_EXPR_TEXT_MAX];
	unsigned long at = (unsigned long)pages + PAGE_SIZE - 5;

	ck_assert_ptr_ne(pages, MAP_FAILED);
	memcpy(pages + PAGE_SIZE - 5, "edge", 5);
	shim_fault = fault;
	faulty = (unsigned long)pages + PAGE_SIZE;
	check_text("x=arg0:64p", at, "edge");
	pages[PAGE_SIZE - 1] = '!';
	memset(text, '#', sizeof(text));
	ck_assert_int_eq(kmmv_expr_text(&expr, at, text), -EFAULT);
	ck_assert_int_eq(text[0], 0);
	ck_assert_int_eq(text[63], 0);
	shim_fault = NULL;
	memcpy(pages + PAGE_SIZE, "over", 5);
	check_text("x=arg0:64p", at, "edge!over");
	munmap(pages, 2 * PAGE_SIZE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("expr");
	TCase *tcase = tcase_create("expr");

	tcase_add_loop_test(tcase, refused, 0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, parsed);
	tcase_add_test(tcase, numbers);
	tcase_add_test(tcase, faults);
	tcase_add_test(tcase, texts);
	tcase_add_test(tcase, edge);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
