// exchange.h - huge pages become 4KB pages with the same contents: for good (a split), or as copies for a forked child.
//
// Split: the new pages are prepared elsewhere and moved into place in one step (mremap), so that readers never find a
// hole. The write gate blocks writers from the first copied byte until then. If something may write past the gate (pins.h),
// or the gate cannot be closed, the huge page stays.
//
// Fork: the parent keeps its huge pages and their frames: other threads go on, and what is pinned stays where it is. The
// copies are made beside the windows before the fork, while the gate blocks writers. The kernel leaves the windows out of
// the child (MADV_DONTFORK), and the child moves the copies into their place. Cost: one copy of the used memory, and that
// memory as 4KB pages for the child. Writers to windows wait that long.
#pragma once

#include "core/huge_parts.h"
#include "core/small_parts.h"

namespace mosalloc {

class WriteGate;

class Exchange {
public:
    void init(PoolState* pool, SmallParts* small, HugeParts* huge);

    /// Splits the huge pages around `range` into 4KB pages. Returns 0, or -EBUSY if a page must stay: the counters say
    /// why. Pages before it are split then.
    long split(Range range);
    /// Before `range` gets the protection `prot`: splits the huge pages at its edges that the policy does not allow to soften.
    /// Where that is impossible, the page is softened.
    void split_edges(Range range, int prot);
    /// Before advice is given: splits the huge pages that cannot take it. HugeParts::advise rejects those that remain.
    void split_for_advice(Range range, int advice);
    /// Splits the huge pages around `range`, because they cannot keep a mark. If that is impossible, or the policy never
    /// splits, counts it and returns -EINVAL.
    long split_for_mark(Range range);
    /// In a forked child: the kernel has nothing at `range`, because of MADV_DONTFORK. Its huge pages are no windows now.
    void forget_huge_pages(Range range);

    /// Before a fork: copies all used memory of windows to 4KB pages, and keeps the windows out of the child. Writers
    /// are blocked from then on until `drop_copies`; without `gate`, this is the only task. Returns -EAGAIN if they cannot be
    /// blocked. After any result, `drop_copies` undoes it in the parent.
    long copy_for_child(WriteGate* gate);
    void drop_copies(WriteGate* gate);
    /// In the child: the copies take the place of the windows.
    long take_copies();

private:
    long unsplit(uint64_t reason);
    long exchange(Range page, bool alone);
    long exchange_gated(Range page, bool alone);
    long replace_by_small_pages(Range page);
    long copy_used(Range page, uint64_t to);
    void copy_policy(Range page, uint64_t copy) const;

    PoolState* pool_ = nullptr;
    SmallParts* small_ = nullptr;
    HugeParts* huge_ = nullptr;
};

}  // namespace mosalloc
