// SPDX-License-Identifier: GPL-2.0-only
/*
 * A counter kept by a BPF program. The programs are so short that they are written
 * as instructions, which need no compiler for BPF.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpfcount.h"

#define MODULE		"kmmv_traced"
#define TRACEPOINT	"kmmv_traced"
#define EVENT		"/sys/kernel/tracing/events/kmmv_qa/kmmv_traced/id"
#define FUNCTION	"kmmv_traced_one"

/* Of Linux 6.9; older headers have no name for them. */
#define MAP_TYPE_ARENA	33
#define CAST_TO_KERNEL	1

/* The arena's place, which programs address by these numbers. */
#define ARENA		0x100000000000ULL

#define CELL_BYTES	(BPFCOUNT_STRIDE * sizeof(uint64_t))

#define INSN(c, d, s, o, i)						\
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s),	\
			    .off = (o), .imm = (i) })
/* The second half of a constant of 64 bits. */
#define HIGH(i)		INSN(0, 0, 0, 0, i)
#define LOAD(d, s, i)	INSN(BPF_LD | BPF_DW | BPF_IMM, d, s, 0, i)
#define MOVE(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define SET(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define CALL(function)	INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define RETURN()	INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define ADD_ATOMIC(d, s)						\
	INSN(BPF_STX | BPF_DW | BPF_ATOMIC, d, s, 0, BPF_ADD)

#define INSNS_MAX	32

/* As compilers do it: the map's function finds the CPU's element. */
static size_t percpu_program(const struct bpfcount *count, struct bpf_insn *insn)
{
	const struct bpf_insn program[] = {
		INSN(BPF_ST | BPF_W | BPF_MEM, BPF_REG_10, 0, -4, 0),
		MOVE(BPF_REG_2, BPF_REG_10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		LOAD(BPF_REG_1, BPF_PSEUDO_MAP_FD, count->fd),
		HIGH(0),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 3, 0),
		INSN(BPF_LDX | BPF_DW | BPF_MEM, BPF_REG_1, BPF_REG_0, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1),
		INSN(BPF_STX | BPF_DW | BPF_MEM, BPF_REG_0, BPF_REG_1, 0, 0),
		SET(BPF_REG_0, 0),
		RETURN(),
	};

	memcpy(insn, program, sizeof(program));
	return sizeof(program) / sizeof(program[0]);
}

/*
 * The CPU's line in memory that is mapped: an add that is not atomic would lose hits
 * in interrupts. The verifier wants to see the bound.
 */
static size_t mapped_program(const struct bpfcount *count, struct bpf_insn *insn)
{
	const struct bpf_insn program[] = {
		CALL(BPF_FUNC_get_smp_processor_id),
		INSN(BPF_JMP | BPF_JGE | BPF_K, BPF_REG_0, 0, 6, count->nr_cpus),
		INSN(BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_0, 0, 0, 6),
		LOAD(BPF_REG_1, BPF_PSEUDO_MAP_VALUE, count->fd),
		HIGH(0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0),
		SET(BPF_REG_2, 1),
		ADD_ATOMIC(BPF_REG_1, BPF_REG_2),
		SET(BPF_REG_0, 0),
		RETURN(),
	};

	memcpy(insn, program, sizeof(program));
	return sizeof(program) / sizeof(program[0]);
}

/* The same without a bound: the kernel confines what is cast to the arena. */
static size_t arena_program(const struct bpfcount *count, struct bpf_insn *insn)
{
	const struct bpf_insn program[] = {
		/* A program uses the arena that it mentions. */
		LOAD(BPF_REG_1, BPF_PSEUDO_MAP_FD, count->fd),
		HIGH(0),
		CALL(BPF_FUNC_get_smp_processor_id),
		INSN(BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_0, 0, 0, 6),
		LOAD(BPF_REG_1, 0, (int32_t)ARENA),
		HIGH(ARENA >> 32),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_1,
		     CAST_TO_KERNEL, 1),
		SET(BPF_REG_2, 1),
		ADD_ATOMIC(BPF_REG_1, BPF_REG_2),
		SET(BPF_REG_0, 0),
		RETURN(),
	};

	memcpy(insn, program, sizeof(program));
	return sizeof(program) / sizeof(program[0]);
}

static size_t program_of(const struct bpfcount *count, struct bpf_insn *insn)
{
	switch (count->map) {
	case BPFCOUNT_PERCPU:
		return percpu_program(count, insn);
	case BPFCOUNT_MAPPED:
		return mapped_program(count, insn);
	default:
		return arena_program(count, insn);
	}
}

static int map_cells(struct bpfcount *count, size_t size, void *where)
{
	void *cells = mmap(where, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | (where ? MAP_FIXED_NOREPLACE : 0),
			   count->fd, 0);

	if (cells == MAP_FAILED)
		return -errno;
	/* An arena has the pages that user space has touched. */
	memset(cells, 0, size);
	count->cells = cells;
	return 0;
}

int bpfcount_init(struct bpfcount *count, enum bpfcount_map map)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	long page = sysconf(_SC_PAGESIZE);
	size_t size;

	count->map = map;
	count->cells = NULL;
	count->nr_cpus = libbpf_num_possible_cpus();
	if (count->nr_cpus < 0)
		return count->nr_cpus;
	size = (count->nr_cpus * CELL_BYTES + page - 1) / page * page;
	switch (map) {
	case BPFCOUNT_PERCPU:
		count->fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "percpu",
					   sizeof(uint32_t), sizeof(uint64_t), 1,
					   &opts);
		return count->fd < 0 ? -errno : 0;
	case BPFCOUNT_MAPPED:
		opts.map_flags = BPF_F_MMAPABLE;
		count->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "mapped",
					   sizeof(uint32_t), size, 1, &opts);
		return count->fd < 0 ? -errno : map_cells(count, size, NULL);
	default:
		opts.map_flags = BPF_F_MMAPABLE;
		opts.map_extra = ARENA;
		count->fd = bpf_map_create(MAP_TYPE_ARENA, "arena", 0, 0,
					   size / page, &opts);
		return count->fd < 0 ? -errno :
				       map_cells(count, size, (void *)(uintptr_t)ARENA);
	}
}

/* A descriptor of the module's type information; *ID: of the function in it. */
static int find_function(uint32_t *id)
{
	struct btf *kernel = btf__load_vmlinux_btf(), *btf;
	struct bpf_btf_info info;
	uint32_t size, next = 0;
	char name[64];
	int fd, found;

	while (kernel && !bpf_btf_get_next_id(next, &next)) {
		fd = bpf_btf_get_fd_by_id(next);
		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		info.name = (uintptr_t)name;
		info.name_len = sizeof(name);
		size = sizeof(info);
		if (bpf_obj_get_info_by_fd(fd, &info, &size) ||
		    strcmp(name, MODULE) != 0) {
			close(fd);
			continue;
		}
		btf = btf__load_from_kernel_by_id_split(next, kernel);
		found = btf ? btf__find_by_name_kind(btf, FUNCTION, BTF_KIND_FUNC) :
			      -ENOENT;
		if (found < 0) {
			close(fd);
			return -ENOENT;
		}
		*id = found;
		return fd;
	}
	return -ENOENT;
}

/* A word of a file, -1 if there is none. */
static int number_in(const char *path)
{
	FILE *file = fopen(path, "r");
	int number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

static uint64_t address_of(const char *function)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	uint64_t address, found = 0;
	char line[512], name[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, name) == 2 &&
		    !strcmp(name, function))
			found = address;
	if (file)
		fclose(file);
	return found;
}

/* The program is called for all CPUs: the event's own CPU does not matter. */
static int attach_perf(int program, enum bpfcount_attach attach)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int event, err;

	if (attach == BPFCOUNT_EVENT) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = number_in(EVENT);
	} else {
		attr.type = number_in("/sys/bus/event_source/devices/kprobe/type");
		attr.kprobe_func = (uintptr_t)FUNCTION;
	}
	attr.sample_period = 1;
	event = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
			PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	err = bpf_link_create(program, event, BPF_PERF_EVENT, NULL);
	if (err < 0)
		err = -errno;
	close(event);
	return err;
}

static int attach_multi(int program)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	unsigned long address = address_of(FUNCTION);
	int link;

	opts.kprobe_multi.addrs = &address;
	opts.kprobe_multi.cnt = 1;
	link = bpf_link_create(program, 0, BPF_TRACE_KPROBE_MULTI, &opts);
	return link < 0 ? -errno : link;
}

static int attach_program(int program, enum bpfcount_attach attach)
{
	int link;

	switch (attach) {
	case BPFCOUNT_RAW:
	case BPFCOUNT_FENTRY:
		link = bpf_raw_tracepoint_open(attach == BPFCOUNT_RAW ?
					       TRACEPOINT : NULL, program);
		return link < 0 ? -errno : link;
	case BPFCOUNT_MULTI:
		return attach_multi(program);
	default:
		return attach_perf(program, attach);
	}
}

int bpfcount_attach(struct bpfcount *count, enum bpfcount_attach attach)
{
	static const enum bpf_prog_type types[] = {
		[BPFCOUNT_RAW] = BPF_PROG_TYPE_RAW_TRACEPOINT,
		[BPFCOUNT_EVENT] = BPF_PROG_TYPE_TRACEPOINT,
		[BPFCOUNT_KPROBE] = BPF_PROG_TYPE_KPROBE,
		[BPFCOUNT_MULTI] = BPF_PROG_TYPE_KPROBE,
		[BPFCOUNT_FENTRY] = BPF_PROG_TYPE_TRACING,
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	struct bpf_insn insn[INSNS_MAX];
	int program, link, module = -1;
	static char log[65536];

	if (attach == BPFCOUNT_FENTRY) {
		module = find_function(&opts.attach_btf_id);
		if (module < 0)
			return module;
		opts.attach_btf_obj_fd = module;
		opts.expected_attach_type = BPF_TRACE_FENTRY;
	} else if (attach == BPFCOUNT_MULTI) {
		opts.expected_attach_type = BPF_TRACE_KPROBE_MULTI;
	}
	opts.log_buf = log;
	opts.log_size = sizeof(log);
	opts.log_level = 0;
	program = bpf_prog_load(types[attach], "count", "GPL", insn,
				program_of(count, insn), &opts);
	if (program < 0) {
		link = -errno;
		fputs(log, stderr);
	} else {
		link = attach_program(program, attach);
		close(program);
	}
	if (module >= 0)
		close(module);
	return link;
}

int bpfcount_read(const struct bpfcount *count, uint64_t *values)
{
	const volatile uint64_t *cells = count->cells;
	uint32_t key = 0;
	int i;

	if (!cells)
		return bpf_map_lookup_elem(count->fd, &key, values) ? -errno : 0;
	for (i = 0; i < count->nr_cpus; i++)
		values[i] = cells[i * BPFCOUNT_STRIDE];
	return 0;
}
