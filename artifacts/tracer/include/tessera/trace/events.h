// events.h - what the recorded program asked of memory management: its calls as libmosalloc received them.
//
// An event is one successful call of mmap, munmap, mremap, mprotect, madvise, brk, mlock or munlock (or a relative of
// these), at offsets in the pools. It has a position in the stream: the number of blocks that were recorded before it.
// A call that fails with ENOMEM at a hole is an event for the part that it reached (madvise: for each part that is mapped).
// The library's own system calls, with which it serves the program, are no events.
//
// The areas that existed when recording began come first, as events with block 0: a `map` for each area with its
// protection of that moment, `advise` and `lock` for what holds on it, and a `brk` if the heap was in use. Applied in
// order to empty pools, the list gives the areas at each block.
//
// Not modelled: areas that the loader or the kernel made without libmosalloc (program, libraries, stack), System V
// shared memory, what msync and mincore do, calls that failed for another reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::trace {

enum class EventKind : uint8_t {
    map = 0,      ///< replaces whatever was mapped in the range
    unmap = 1,    ///< the range may have holes
    remap = 2,    ///< from [offset, + length) to [new_offset, + new_length); `flags` has MREMAP_*
    protect = 3,
    advise = 4,   ///< `flags` is the advice, MADV_*
    brk = 5,      ///< the heap is [0, length_bytes) from now on; offset_bytes is 0
    lock = 6,     ///< mlock, mlock2; `flags` has MLOCK_*
    unlock = 7,
};
constexpr uint8_t event_kinds = 8;

/// Where a range lies. PoolKind has the first two, with the same numbers.
enum class EventPool : uint8_t {
    heap = 0,
    anon = 1,
    file = 2,     ///< files and shared memory; always 4KB pages
    outside = 3,  ///< in no pool: the offset is the virtual address
};
constexpr uint8_t event_pools = 4;

/// Offsets and lengths are multiples of 4096, except the length of a `brk`. Fields that a kind does not name are 0.
struct Event {
    uint64_t block = 0;  ///< blocks recorded before: the event happens before execution `block` (from 0) of the stream
    EventKind kind = EventKind::map;
    EventPool pool = EventPool::anon;
    EventPool new_pool = EventPool::heap;  ///< remap only
    uint64_t offset_bytes = 0;
    uint64_t length_bytes = 0;
    uint64_t new_offset_bytes = 0;         ///< remap only
    uint64_t new_length_bytes = 0;         ///< remap only
    uint32_t protection = 0;               ///< map, protect: PROT_*
    uint32_t flags = 0;                    ///< map: MAP_* of the call; others: see EventKind
    uint32_t file = 0;                     ///< map: 1 + index in Events::files; 0: no file
    uint64_t file_offset_bytes = 0;        ///< map of a file

    bool operator==(const Event&) const = default;
};

struct EventFile {
    std::string name;         ///< path at the time of the first mapping, as the program sees it
    uint64_t size_bytes = 0;  ///< at that time

    bool operator==(const EventFile&) const = default;
};

/// The optional section of a trace.
struct Events {
    std::vector<Event> list;      ///< `block` never decreases
    uint64_t at_start = 0;        ///< the first so many are the areas that existed when recording began
    std::vector<EventFile> files;
    uint64_t file_pool_base = 0;  ///< virtual address of offset 0 of the file pool; Header::pools has the other two
    uint64_t file_pool_bytes = 0;

    bool operator==(const Events&) const = default;
};

/// "map", "unmap", ... and "brk", "mmap", "file", "outside": the words of layout files and of `tessera-trace events`.
const char* name_of(EventKind kind);
const char* name_of(EventPool pool);

}  // namespace tessera::trace
