// forks.cpp - fork with pools.
//
// 4KB parts are copied on write like any memory. Windows too, but the copy needs a free huge page, which nobody
// has reserved for the child: without one the child is killed by SIGBUS when it writes there. The library cannot
// change that, so it counts forks in danger and says so once.
#include <pthread.h>

#include "core/sys.h"
#include "core/text.h"
#include "preload/hooks.h"
#include "preload/hugepages.h"
#include "preload/map_file.h"

namespace mosalloc {
namespace {

/// Pages of one size in windows below the high-water mark: what a child could have to copy.
uint64_t pages_in_use(const mosalloc_pool_map* map, uint64_t page_bytes) {
    uint64_t pages = 0;
    for (uint64_t i = 0; i < map->window_count; ++i) {
        const mosalloc_window& w = map->windows[i];
        const uint64_t used = map->pools[w.pool_kind].used_bytes;
        const uint64_t end = used < w.end_offset ? align_up(used, page_bytes) : w.end_offset;
        const bool counts = w.page_bytes == page_bytes && w.mapped != 0 && end > w.start_offset;
        pages += counts ? (end - w.start_offset) / page_bytes : 0;
    }
    return pages;
}

void before_fork() {
    mosalloc_pool_map* map = runtime().map;
    constexpr uint64_t kSizes[] = {kPage2M, kPage1G};
    for (const uint64_t page_bytes : kSizes) {
        const uint64_t needed = map->window_count == 0 ? 0 : pages_in_use(map, page_bytes);
        if (needed == 0) continue;
        const uint64_t free = huge_pages(page_bytes).free;
        if (free >= needed || map->fork_risks++ != 0) continue;
        char line[256];
        Text text(line);
        text.add("mosalloc: fork: the child could need ").number(needed).add(" pages of ").size(page_bytes).add(", ")
            .number(free).add(" are free\n  what to do: reserve that many more if the child dies with SIGBUS\n");
        sys::write(2, line, text.length());
    }
    runtime().lock.acquire();
}

void after_in_parent() { runtime().lock.release(); }

void after_in_child() {
    runtime().map = private_copy(runtime().map);
    runtime().space.set_map(runtime().map);
    runtime().lock.release();
}

}  // namespace

void watch_forks() { pthread_atfork(before_fork, after_in_parent, after_in_child); }

}  // namespace mosalloc
