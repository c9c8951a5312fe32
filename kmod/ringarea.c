// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mapping of a ring: its header, and each CPU's buffer.
 *
 * The mapping is shared and read-only. Pages are mapped by fault, as PFNs,
 * without a reference: nothing in the kernel can take hold of one through the
 * mapping and keep it for longer than the mapping. The mapping keeps its file,
 * the file keeps the ring and its buffers, whose size does not change while
 * there are files. There is no state per mapping.
 *
 * Memory ordering:
 *
 *	ringbuffers:B  a buffer before its pointer, release - ringarea:A  acquire
 *	    a caller that finds a CPU's buffer finds it made.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "rings.h"
#include "vma.h"

/**
 * kmmv_ringarea_header() - fill in the header: what is mapped where
 * @ring: has a zeroed header, and no buffers yet
 */
void kmmv_ringarea_header(struct kmmv_ring *ring)
{
	struct kmmv_ring_header *header = ring->header;
	u64 *possible;
	int cpu;

	header->magic = KMMV_RING_MAGIC;
	header->major = KMMV_RING_MAJOR;
	header->minor = KMMV_RING_MINOR;
	header->size = sizeof(*header);
	header->epoch = kmmv_table.epoch;
	header->page_size = PAGE_SIZE;
	header->nr_cpus = nr_cpu_ids;
	header->nr_pages = ring->ring_pages + ring->spares + 1;
	header->ring_pages = ring->ring_pages;
	header->spares = ring->spares;
	header->mode = ring->overwrite ? KMMV_RING_OVERWRITE :
					 KMMV_RING_CONSUME;
	header->cpu_offset = PAGE_SIZE;
	header->cpu_stride = (header->nr_pages + 2ULL) << PAGE_SHIFT;
	header->writer_offset = 0;
	header->reader_offset = PAGE_SIZE;
	header->data_offset = 2 * PAGE_SIZE;
	header->length = header->cpu_offset +
			 header->cpu_stride * header->nr_cpus;
	header->mask_size = DIV_ROUND_UP(nr_cpu_ids, 64) * sizeof(u64);
	header->possible_offset = ALIGN(sizeof(*header), sizeof(u64));
	header->alive_offset = header->possible_offset + header->mask_size;
	BUILD_BUG_ON(ALIGN(sizeof(*header), sizeof(u64)) +
			     2 * DIV_ROUND_UP(NR_CPUS, 64) * sizeof(u64) >
		     PAGE_SIZE);
	memcpy(header->name, ring->name, sizeof(header->name));

	possible = (u64 *)((char *)header + header->possible_offset);
	for_each_possible_cpu(cpu)
		possible[cpu / 64] |= 1ULL << (cpu % 64);
}

/**
 * kmmv_ringarea_buffer() - a CPU's buffer
 * @ring: has buffers
 * @cpu: below nr_cpu_ids
 *
 * Context: any.
 * Return: the buffer, which stays while the ring has files, or NULL.
 */
struct kmmv_ring_cpu *kmmv_ringarea_buffer(const struct kmmv_ring *ring,
					   u32 cpu)
{
	/* ringarea:A pairs with ringbuffers:B: the buffer is made. */
	return smp_load_acquire(&ring->side[cpu].rc);
}

/* A kmmv_page_at: @from is the fault. */
static struct page *page_at(const void *from, u32 ahead)
{
	const struct vm_fault *vmf = from;
	const struct kmmv_ring_file *file = vmf->vma->vm_file->private_data;
	const struct kmmv_ring *ring = file->ring;
	u32 stride = ring->header->cpu_stride >> PAGE_SHIFT, i;
	u64 pgoff = (u64)vmf->pgoff + ahead;
	struct kmmv_ring_cpu *rc;
	u64 cpu;

	if (!pgoff)
		return virt_to_page(ring->header);
	cpu = div_u64_rem(pgoff - 1, stride, &i);
	if (cpu >= nr_cpu_ids)
		return NULL;
	rc = kmmv_ringarea_buffer(ring, cpu);
	if (!rc)
		return NULL;
	switch (i) {
	case 0:
		return virt_to_page(rc->writer);
	case 1:
		return virt_to_page(rc->reader);
	default:
		return virt_to_page(rc->pages[i - 2].data);
	}
}

static vm_fault_t ring_fault(struct vm_fault *vmf)
{
	return kmmv_vma_fault(vmf, page_at, vmf);
}

static const struct vm_operations_struct ring_vm_ops = {
	.fault = ring_fault,
};

/**
 * kmmv_ringarea_mmap() - map a ring's header and buffers
 * @file: of its device
 * @vma: shared, read-only, within kmmv_ring_header.length
 *
 * Return: as kmmv_vma_init().
 */
int kmmv_ringarea_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kmmv_ring_file *rf = file->private_data;

	return kmmv_vma_init(vma, rf->ring->header->length >> PAGE_SHIFT,
			     &ring_vm_ops);
}
