// state.h - the state of one thread of the differential test: its areas, malloc blocks and random numbers.
//
// An area is memory from one mmap that only this thread uses. The output never contains addresses: an area is a number
// there, and a place in it is a page number. The thread makes only calls with one correct result. It never reads memory
// that another mapping may take. It moves pages by mremap only if one call made them all (`epoch`), because the kernel
// may or may not merge neighbouring mappings.
#pragma once

#include <cstddef>
#include <cstdint>

#include "log.h"
#include "random.h"

namespace differential {

constexpr size_t kPage = 4096;
constexpr unsigned kAreas = 24, kBlocks = 128, kMaxPages = 768, kMaxThreads = 16;
constexpr unsigned kFilePages = 24;  ///< each thread's file; 100 more bytes make the last page a partial one

enum Kind : uint8_t { kHole, kPrivate, kShared, kFilePrivate, kFileShared };

struct PageState {
    Kind kind = kHole;
    uint8_t prot = 0;
    bool undefined = false;  ///< after MADV_FREE: old contents or zero, until the whole page is written
    bool touched = false;
    uint32_t epoch = 0;
};

struct Area {
    char* base = nullptr;
    unsigned pages = 0;
    PageState page[kMaxPages];
    char* at(unsigned index) const { return base + index * kPage; }
};

struct Block {
    char* at = nullptr;
    size_t bytes = 0;
};

/// Behaviour that the layout under test cannot provide, so it is left out on both sides.
struct Options {
    uint64_t seed = 1, operations = 100000;
    unsigned threads = 1;
    bool trace = false;
    bool faults = true;    ///< windows with softened protections do not fault
    bool hole_faults = true;  ///< memory that was given back in a window stays readable until it is reused
    bool forks = true;     ///< a child under windows needs huge pages of its own
    bool foreign = true;   ///< files and shared memory over windows can be refused
    bool locks = true;     ///< mlock of a part of a huge page
    unsigned left_out = 0; ///< operations by name, to look for the next difference behind a known one
    const char* except[32] = {};
};

struct Thread {
    const Options* options = nullptr;
    unsigned index = 0;
    bool alone = true;  ///< no other thread can fill a hole
    Random random;
    Log log;
    uint32_t epoch = 0;
    int file = -1, file_read_only = -1;
    Area areas[kAreas];
    Block blocks[kBlocks];
};

/// Pages [first, end) of an area.
struct Span {
    unsigned area, first, end;
    unsigned pages() const { return end - first; }
};

}  // namespace differential
