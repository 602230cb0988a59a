// outside.h - anonymous memory that went through the library to the kernel: stacks, hints, huge pages of the
// program's own. With it the launcher tells what nobody saw: raw system calls, the dynamic linker, a second libc.
// Our own tables are in it as well.
//
// Callers hold the lock.
#pragma once

#include "core/free_list.h"
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

    FreeList ranges_;  ///< a set of ranges; here it holds what is taken
    mosalloc_pool_map* map_ = nullptr;
};

}  // namespace mosalloc
