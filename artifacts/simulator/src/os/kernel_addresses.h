// kernel_addresses.h - the addresses of woven kernel work: virtual ones from 2^47 on, where x86-64 has the kernel, and what they map.
//
// Three windows, all mapped by pages of os.direct_map_mb:
//   pages   the machine's frames as the direct map has them: frame f at 2^47 + 4096 f, physical 4096 f (memory.allocator = mapped)
//   tables  the frames of page tables, physical where walks read their entries (os/physical_map.h)
//   own     the kernel's own memory (image, stack, slabs, struct pages), which is no memory of the imitated machine
// In Linux, the first two are one window. Here, a frame has other physical addresses as a table than as a page (pagetable/radix.cpp), so
// the TLBs hold an entry more for tables.
#pragma once

#include "os/page_rows.h"
#include "os/physical_map.h"

namespace tessera::sim::kernel {

inline constexpr uint64_t begin = uint64_t{1} << 47, tables_begin = begin + (uint64_t{1} << 44), own_begin = begin + (uint64_t{1} << 45);
/// Frames of the machine that fit into a window.
inline constexpr uint64_t frame_limit = uint64_t{1} << 32;
static_assert(frame_limit << 12 == tables_begin - begin && physical::kernel_own.holds(address_limit - own_begin));
/// Physical addresses of the recording that fit below the memory map, whose begin this is, relative to own_begin.
inline constexpr uint64_t memory_map = uint64_t{1} << 40;
inline constexpr uint64_t struct_page_bytes = 64;  ///< sizeof(struct page), include/linux/mm_types.h of Linux 6.12

/// pre: frame < frame_limit, inside < 2MB.
constexpr uint64_t of_page(uint64_t frame, uint64_t inside) { return begin + (frame << 12) + inside; }
constexpr uint64_t of_table(uint64_t frame, uint64_t inside) { return tables_begin + (frame << 12) + inside; }
/// pre: address < memory_map.
constexpr uint64_t of_own(uint64_t address) { return own_begin + address; }
constexpr uint64_t of_struct_page(uint64_t frame, uint64_t inside) { return own_begin + memory_map + frame * struct_page_bytes + inside; }

/// Whether an address is one of a table's entry, and its physical address then.
constexpr bool is_table(uint64_t address) { return address >= tables_begin && address < own_begin; }
constexpr uint64_t table_physical(uint64_t address) {
    const uint64_t at = address - tables_begin;
    return physical::logged_table(at >> 12) + (at & 4095);
}

/// The page of the direct map that holds a page of 4KB. pre: page >= begin >> 12.
constexpr MappedRow row(uint64_t page, PageSize size) {
    const uint64_t pages = uint64_t{1} << (shift_of(size) - 12), first = page & ~(pages - 1);
    uint64_t frame = first - (begin >> 12);
    if (first >= own_begin >> 12) frame = (physical::kernel_own.begin >> 12) + first - (own_begin >> 12);
    else if (first >= tables_begin >> 12) frame = table_physical(first << 12) >> 12;
    return {first, frame, pages, size, MappedRow::no_chunk};
}

}  // namespace tessera::sim::kernel
