// small_parts.h - the parts of a pool with 4KB pages: handed out, taken back, replaced.
//
// A hole in a 4KB part costs the kernel two more mappings (accessible, no access, accessible), where plain munmap costs
// one, and the kernel allows 65530 (vm.max_map_count). So past a number of holes (Policy::most_holes), or when the kernel
// refuses to remove the access, a hole stays open: it loses its contents and is marked kOpen, but keeps its access.
//
// A call that fails loses nothing. Dropping contents before removing access is faster, and safe: when the second step
// fails, the hole stays open, and the call succeeds.
#pragma once

#include "core/pool_state.h"

namespace mosalloc {

class SmallParts {
public:
    void init(PoolState* pool) { pool_ = pool; }
    /// As Pool's functions of these names.
    long commit(Range part, int prot, bool no_reserve);
    long release(Range part, bool crowded);
    /// In one call of the kernel: if it fails, `part` is as before.
    long replace(Range part, int prot, bool no_reserve);
    /// `part` was a huge page or a window, and has 4KB pages now, all with access `during`: each page gets the protection and
    /// the marks that are recorded for it. Where the kernel refuses (too many mappings), the page stays softened, as a part of
    /// a huge page.
    void settle(Range part, int during);
    bool any_open(Range range) const { return has_open_ && pool_->pages.any(range, kOpen); }

private:
    void leave_open(Range part);
    long commit_open(Range part, int prot);
    void restore_marks(Range part);

    PoolState* pool_ = nullptr;
    bool has_open_ = false;  ///< there was an open hole
};

}  // namespace mosalloc
