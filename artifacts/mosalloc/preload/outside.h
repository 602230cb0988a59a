// outside.h - records the anonymous memory that the library passed on to the kernel: stacks, address hints, huge pages
// that the program itself requested, and the library's own tables. From this record the launcher computes the memory
// that bypassed the library: raw system calls, the dynamic linker, a second libc.
//
// Callers hold the lock.
#pragma once

#include "core/range_set.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {

class Outside {
public:
    bool init(mosalloc_pool_map* map);
    void mapped(Range addresses);
    void unmapped(Range addresses);
    void moved(Range from, Range to);
    bool empty() const { return ranges_.count() == 0; }
    void set_map(mosalloc_pool_map* map) { map_ = map; }

private:
    void publish();

    RangeSet ranges_;
    mosalloc_pool_map* map_ = nullptr;
};

}  // namespace mosalloc
