// physical_map.h - the regions of the physical address space, by name, and that they are apart.
//
// Data of programs, page tables, tables of designs and memory of the kernel go through the same simulated caches. If two of them had one
// address, they would hit each other's lines, and the counts would look plausible. So each has a region of its own. What a region holds
// is bounded: by a static_assert where it is used, else by an error at the first address beyond (pagetable/page_table.h).
//
// Data are where the allocator (os/allocator.h) puts them:
//   identity   program
//   mapped     program (frames of a mapping or log are below 2^36), outside (of pages without a frame), kernel_own
//   scattered  program (4KB pages), scattered_2mb, scattered_1gb
// Caches that hold virtual addresses (mmu/designs/hvc_common.h) have program and, for synonyms, synonym.
// Tables:
//   tables         of the simulator: frames of 4KB in the order of first touch. Under the log of an operating system, its tables are
//                  there instead, and those of the simulator in own_tables
//   own_tables     under a log: tables of what it does not map
//   logged_above   tables of a log in frames from 128GB on. Low 48 bits are the machine's address, as those in `tables`
//   of_design, far tables of one design; a design uses each for one purpose
//   of_format      tables of formats that are not radix
#pragma once

#include <cstdint>
#include <initializer_list>

#include "base/types.h"

namespace tessera::sim {

/// The simulator rejects virtual addresses at and above this one (os/address_limit.h).
inline constexpr uint64_t address_limit = uint64_t{1} << 48;

namespace physical {

/// Addresses from begin to before end.
struct Region {
    uint64_t begin, end;
    constexpr bool holds(uint64_t bytes) const { return bytes <= end - begin; }
    constexpr bool has(PhysAddr address) const { return begin <= address.value && address.value < end; }
};
constexpr Region from(uint64_t begin, uint64_t bytes) { return {begin, begin + bytes}; }

inline constexpr uint64_t limit = uint64_t{1} << 52;  ///< all are below

inline constexpr Region program = from(0, address_limit);
inline constexpr Region scattered_2mb = from(uint64_t{1} << 49, address_limit), scattered_1gb = from(uint64_t{1} << 50, address_limit);
inline constexpr Region outside = from(uint64_t{1} << 51, address_limit);
inline constexpr Region kernel_own = from(uint64_t{1} << 49, (uint64_t{1} << 47) - (uint64_t{1} << 45));
inline constexpr Region synonym = {uint64_t{1} << 51, limit};

inline constexpr Region tables = from(address_limit, uint64_t{1} << 37);
inline constexpr Region own_tables = from(tables.end, uint64_t{1} << 37);
inline constexpr Region of_design = from(own_tables.end, uint64_t{1} << 38);
inline constexpr Region far = from(of_design.end, uint64_t{1} << 39);
inline constexpr Region of_format = from(far.end, uint64_t{1} << 40);
inline constexpr Region logged_above = {3 * address_limit + (tables.end - tables.begin), 3 * address_limit + (uint64_t{1} << 44)};

/// Frames of 4KB of `tables`: below 128GB of a log's machine. Logs number the frames of tables with 32 bits.
inline constexpr uint64_t table_frames = (tables.end - tables.begin) / 4096;
static_assert(logged_above.begin % address_limit == table_frames * 4096 && logged_above.end % address_limit == uint64_t{4096} << 32);

/// Where the table in a frame of the log's machine is. pre: frame < 2^32.
constexpr uint64_t logged_table(uint64_t frame) { return (frame < table_frames ? tables.begin : 3 * address_limit) + frame * 4096; }
constexpr bool is_logged(PhysAddr address) { return tables.has(address) || logged_above.has(address); }

constexpr bool apart(std::initializer_list<Region> regions) {
    for (const Region& a : regions) {
        if (a.begin >= a.end || a.end > limit) return false;
        for (const Region& b : regions)
            if (&a != &b && a.begin < b.end && b.begin < a.end) return false;
    }
    return true;
}
static_assert(apart({program, outside, kernel_own, tables, own_tables, of_design, far, of_format, logged_above}));
static_assert(apart({program, scattered_2mb, scattered_1gb, tables, own_tables, of_design, far, of_format, logged_above}));
static_assert(apart({program, synonym, tables, own_tables, of_design, far, of_format, logged_above}));

}  // namespace physical

/// The first table of the simulator, and the end of what all tables but logged_above have.
inline constexpr uint64_t page_table_base = physical::tables.begin, page_table_end = physical::of_format.end;

}  // namespace tessera::sim
