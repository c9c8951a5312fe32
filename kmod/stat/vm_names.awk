# SPDX-License-Identifier: GPL-2.0-only
#
# From the kernel's own enum of vm events (include/linux/vm_event_item.h), the
# initialisers of an array of their names in /proc/vmstat. The kernel's array is
# not exported; most names are the enumerator's in lower case. #if lines stay.

function name(item)
{
	if (item ~ /^PGSCAN_SKIP/)
		sub(/^PGSCAN_SKIP/, "PGSKIP", item)
	sub(/^PGSCAN_ZONE_RECLAIM_/, "ZONE_RECLAIM_", item)
	sub(/^NUMA_PAGE_MIGRATE$/, "NUMA_PAGES_MIGRATED", item)
	sub(/^KCOMPACTD_/, "COMPACT_DAEMON_", item)
	if (item ~ /^COMPACT[A-Z]/)
		sub(/^COMPACT/, "COMPACT_", item)
	sub(/^HTLB_BUDDY_PGALLOC$/, "HTLB_BUDDY_ALLOC_SUCCESS", item)
	sub(/^HTLB_BUDDY_PGALLOC_/, "HTLB_BUDDY_ALLOC_", item)
	sub(/^UNEVICTABLE_PG/, "UNEVICTABLE_PGS_", item)
	sub(/_EXCEED_SHARED_PTE$/, "_EXCEED_SHARE_PTE", item)
	if (item ~ /^DIRECT_MAP_LEVEL/)
		item = item "S"
	return tolower(item)
}

function put(item)
{
	printf "[%s] = \"%s\",\n", item, name(item)
}

function put_if(config, item)
{
	printf "#ifdef CONFIG_%s\n", config
	put(item)
	print "#endif"
}

function all_zones(item)
{
	put_if("ZONE_DMA", item "_DMA")
	put_if("ZONE_DMA32", item "_DMA32")
	put(item "_NORMAL")
	put_if("HIGHMEM", item "_HIGH")
	put(item "_MOVABLE")
	put_if("ZONE_DEVICE", item "_DEVICE")
}

/^enum vm_event_item/	{ inside = 1; sub(/^[^{]*\{/, "") }
/NR_VM_EVENT_ITEMS/	{ exit }
!inside			{ next }
comment			{ if (!sub(/^.*\*\//, "")) next; comment = 0 }
/^[ \t]*#/		{ print; next }
{
	gsub(/\/\*([^*]|\*[^\/])*\*\//, "")
	comment = sub(/\/\*.*$/, "")
	n = split($0, item, /[ \t,]+/)
	for (i = 1; i <= n; i++) {
		zones = sub(/^FOR_ALL_ZONES\(/, "", item[i])
		sub(/\).*$/, "", item[i])
		if (item[i] !~ /^[A-Z][A-Z0-9_]*$/)
			continue
		if (zones)
			all_zones(item[i])
		else
			put(item[i])
	}
}
