// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mapping: shared, read-only, a page at a time by fault.
 *
 * Pages are mapped as PFNs, without a reference. So nothing in the kernel can
 * take hold of a page through the mapping (vmsplice, O_DIRECT, ptrace) and keep
 * it for longer than the mapping. The mapping keeps its file, the file keeps
 * the module, and the module keeps the pages. There is no state per mapping, so
 * splitting, moving, forking and partly unmapping one need no care.
 *
 * Memory ordering:
 *
 *	slots:H  zeroing before the pointer, release - area:A  acquire
 *	slots:I  zeroing before the pointers, release - area:B  acquire
 *	    a fault that maps a page before its number is given out maps zeroes.
 *	area:C  zero page mapped, then a look - area:D  memory, then unmapping
 *	    the fault sees the memory, or the CPU coming up unmaps zeroes.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>

#include "module.h"
#include "kmmv_compat.h"
#include "vma.h"

#ifndef CONFIG_MMU
#error "kmmv maps pages by fault: it needs an MMU"
#endif
#ifdef CONFIG_CPU_CACHE_ALIASING
#error "kmmv: a reader's cache would not see the kernel's stores"
#endif

#define KMMV_FS_MAGIC		0x6b6d6d76
#define FAULT_AROUND_PAGES	16

static struct vfsmount *kmmv_mount;
static int kmmv_mount_count;
static struct inode *kmmv_inode;

/* A CPU that was never online shows the zero page. */
static struct page *page_of(void *address)
{
	if (!address)
		return ZERO_PAGE(0);
	return is_vmalloc_addr(address) ? vmalloc_to_page(address) :
					  virt_to_page(address);
}

/* A kmmv_page_at: @from is the place of what was touched. */
static struct page *page_at(const void *from, u32 ahead)
{
	const struct kmmv_slots *slots = &kmmv_table.slots;
	const struct kmmv_place *place = from;
	u32 i = place->page + ahead;
	kmmv_page page;
	u32 *inc;

	if (ahead >= place->left)
		return NULL;
	switch (place->kind) {
	case KMMV_PLACE_HEADER:
		return virt_to_page(kmmv_table.header);
	case KMMV_PLACE_INCARNATION:
		/* area:A pairs with slots:H: the page is zeroed. */
		inc = smp_load_acquire(&slots->inc[i]);
		return inc ? virt_to_page(inc) : NULL;
	case KMMV_PLACE_COUNTER:
		/* area:B pairs with slots:I: the pages are zeroed. */
		page = smp_load_acquire(&slots->page[i]);
		if (!page || !cpu_possible(place->cpu))
			return NULL;
		return page_of(kmmv_slot_word(kmmv_page_slot(page, 0),
					      place->cpu));
	default:
		return NULL;
	}
}

/*
 * A fault may map the zero page just after the CPU's mappings were removed. No
 * lock is held while pages are mapped: that allocates memory, and a CPU coming
 * up would wait for it.
 */
static void take_zeroes_back(kmmv_page_at *find, const void *from, u32 ahead,
			     pgoff_t at)
{
	/* area:C pairs with area:D: mapped before the look. */
	smp_mb();
	if (find(from, ahead) != ZERO_PAGE(0))
		unmap_mapping_range(kmmv_inode->i_mapping,
				    (loff_t)at << PAGE_SHIFT, PAGE_SIZE, 1);
}

/**
 * kmmv_vma_fault() - map the page that was touched, and those after it that are there
 * @vmf: in a mapping of kmmv_vma_init()
 * @find: finds the pages
 * @from: its first argument
 *
 * Context: of a vma's fault().
 * Return: VM_FAULT_SIGBUS if the page is not there; as vmf_insert_pfn().
 */
vm_fault_t kmmv_vma_fault(struct vm_fault *vmf, kmmv_page_at *find,
			  const void *from)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long address = vmf->address & PAGE_MASK;
	vm_fault_t inserted, result = VM_FAULT_SIGBUS;
	struct page *page;
	u32 i;

	for (i = 0; i < FAULT_AROUND_PAGES; i++) {
		if (address >= vma->vm_end)
			break;
		page = find(from, i);
		if (!page)
			break;
		inserted = vmf_insert_pfn(vma, address, page_to_pfn(page));
		if (!i)
			result = inserted;
		if (inserted != VM_FAULT_NOPAGE)
			break;
		if (IS_ENABLED(CONFIG_KMMV_FLEXIBLE) && page == ZERO_PAGE(0))
			take_zeroes_back(find, from, i, vmf->pgoff + i);
		address += PAGE_SIZE;
	}
	return result;
}

static vm_fault_t area_fault(struct vm_fault *vmf)
{
	struct kmmv_place place = kmmv_geom_place(&kmmv_table.slots.geom,
						  vmf->pgoff);

	return kmmv_vma_fault(vmf, page_at, &place);
}

static const struct vm_operations_struct area_vm_ops = {
	.fault = area_fault,
};

/**
 * kmmv_vma_init() - set up a mapping of pages that only the kernel writes
 * @vma: being made
 * @pages: number of pages that can be mapped
 * @ops: with a fault() that maps PFNs
 *
 * Context: of a file's mmap().
 * Return: 0; -EPERM for a mapping that could be written, executed or copied on
 * write; -EINVAL past the end.
 */
int kmmv_vma_init(struct vm_area_struct *vma, u64 pages,
		  const struct vm_operations_struct *ops)
{
	u64 wanted = vma_pages(vma);

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EPERM;
	if (vma->vm_pgoff >= pages || wanted > pages - vma->vm_pgoff)
		return -EINVAL;

	vm_flags_mod(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = ops;
	return 0;
}

/**
 * kmmv_area_mmap() - map the counters
 * @file: of the device
 * @vma: being made
 *
 * Return: as kmmv_vma_init().
 */
int kmmv_area_mmap(struct file *file, struct vm_area_struct *vma)
{
	return kmmv_vma_init(vma, kmmv_table.slots.geom.length >> PAGE_SHIFT,
			     &area_vm_ops);
}

/**
 * kmmv_area_populate() - allocate a CPU's memory, and unmap its zero pages
 * @cpu: about to come up, or one that is not online
 *
 * Context: task, before the CPU can count.
 * Return: 0 or -ENOMEM.
 */
int kmmv_area_populate(unsigned int cpu)
{
	const struct kmmv_geom *geom = &kmmv_table.slots.geom;
	int err;

	err = kmmv_table_populate(&kmmv_table, cpu);
	if (!IS_ENABLED(CONFIG_KMMV_FLEXIBLE))
		return err;
	/* area:D pairs with area:C: memory before what is mapped. */
	smp_mb();
	unmap_mapping_range(kmmv_inode->i_mapping,
			    geom->cpu_offset + geom->cpu_stride * cpu,
			    geom->cpu_stride, 1);
	return err;
}

/**
 * kmmv_area_open() - put all mappings of all nodes in one address space
 * @file: being opened
 */
void kmmv_area_open(struct file *file)
{
	file->f_mapping = kmmv_inode->i_mapping;
}

static int kmmv_fs_init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, KMMV_FS_MAGIC) ? 0 : -ENOMEM;
}

/* No owner: its only mount belongs to the module. */
static struct file_system_type kmmv_fs_type = {
	.name = "kmmv",
	.init_fs_context = kmmv_fs_init_fs_context,
	.kill_sb = kill_anon_super,
};

int kmmv_area_init(void)
{
	int err;

	err = simple_pin_fs(&kmmv_fs_type, &kmmv_mount, &kmmv_mount_count);
	if (err)
		return err;
	kmmv_inode = alloc_anon_inode(kmmv_mount->mnt_sb);
	if (IS_ERR(kmmv_inode)) {
		simple_release_fs(&kmmv_mount, &kmmv_mount_count);
		return PTR_ERR(kmmv_inode);
	}
	return 0;
}

void kmmv_area_exit(void)
{
	iput(kmmv_inode);
	simple_release_fs(&kmmv_mount, &kmmv_mount_count);
}
