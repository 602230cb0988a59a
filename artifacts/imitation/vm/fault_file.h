// fault_file.h - faults of areas that map a file.
//
// Linux 6.12: mm/memory.c do_read_fault, do_fault_around, do_cow_fault, do_shared_fault, __do_fault, finish_fault; mm/filemap.c filemap_map_pages,
// filemap_fault. Rules:
// - A read first maps what the cache has around (fault-around): the 16 pages of the aligned 64KB of the address, within the area, the
//   table and the file; not pages that the disk still reads, nor those with readahead's mark. Entries that exist stay. They are read-only and
//   young. Each page that is found lowers the count of misses, unless it was evicted lately.
// - If the page itself is not among them: found with the mark, the next window is read (readahead.h); missing, readahead around it
//   (a major fault), and the page alone if readahead is off. A fault that waited for the disk starts again from the beginning:
//   the table and the page of a copy are freed and taken again.
// - A write in a private area: the new page first, then the table, then the file's page, as in a read; the copy is mapped. No fault-around.
// - A write in a shared area maps the file's page writable and dirty; reads map it read-only, so the first write is a fault
//   (ext4 has page_mkwrite).
// - Beyond the end of the file: SIGBUS, FAULT_BUS.
// - Pages that an asynchronous readahead adds are locked until the end of the fault; those of a synchronous one until the fault starts again.
// Left out: 2MB mappings of files (none exist without large folios; those of large files stay 4KB here), faults under a lock that
// cannot be dropped, kernels without per-area locks (they mark a fault as tried one round earlier).
#pragma once

#include "vm/fault.h"

enum { FAULT_AROUND_PAGES = 16 };  // fault_around_pages, 64KB

/// The area has a file that is open (file_open), and allows the access. `table` of level 1 covers the page.
void fault_file(struct process *process, struct file *file, size_t area, uint64_t page, bool write, uint32_t cpu, struct pt_table *table,
                struct fault *fault);
