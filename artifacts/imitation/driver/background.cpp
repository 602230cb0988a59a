// background.cpp - what the kernel does beside the program: kswapd, kcompactd, khugepaged, per-CPU lists; and what reclaim and compaction did.
#include <algorithm>

#include "driver/kernel.h"

namespace tessera::os {

/// kswapd, if it was woken, then kcompactd, if kswapd wakes it.
void Kernel::work(At at) {
    if (!machine_.system.reclaim.kswapd_asked) return;
    now_ = at;
    vm_background(&machine_.system, 0);
}

void Kernel::wake(At at, uint64_t instructions) {
    now_ = at;
    for (; next_wake_ <= instructions; next_wake_ = std::min({scan_.next, refresh_.next, compaction_.next})) {
        if (next_wake_ == refresh_.next) {
            percpu_refresh(&machine_.memory, 0);
            lru_fold(&machine_.system.lru, 0);
            refresh_.next += refresh_.period;
        } else if (next_wake_ == scan_.next) {
            scan(at);
            scan_.next += scan_.period;
        } else {
            compact_proactive(&machine_.system.compact, 0);
            compaction_.next += compaction_.period;
        }
        work(at);
    }
}

void Kernel::scan(At at) {
    struct Context {
        Kernel *kernel;
        At at;
    } context{this, at};
    khugepaged_wake(
        &machine_.system, 0,
        [](void *of, const ::process *process, uint64_t page, collapse_result result) {
            if (result != COLLAPSE_DONE) return;
            auto &[kernel, place] = *static_cast<Context *>(of);
            unsigned level = 0;
            Record record{place.block, place.access, Kind::collapse};
            record.large = true, record.pages = 512;
            record.frame = pt_value(*pt_find(&process->pt, page, &level));
            ++kernel->counts_.collapses;
            kernel->put(place, record, page);
        },
        &context);
}

void Kernel::aged(uint64_t page, uint64_t pages) { rights_.clear(page, pages); }

void Kernel::split(uint64_t page, uint64_t frame) {
    changed();
    log_split(now_, {page, frame});
}

void Kernel::reclaimed(uint64_t page, uint64_t pages) {
    changed();
    counts_.reclaimed_pages += pages;
    log_unmap(now_, page, pages, Loss::reclaimed);
}

void Kernel::migrated(uint64_t page, uint64_t frame) {
    changed();
    Record record{now_.block, now_.access};
    record.cause = static_cast<uint8_t>(Cause::migrated);
    record.frame = frame;
    put(now_, record, page);
}

}  // namespace tessera::os
