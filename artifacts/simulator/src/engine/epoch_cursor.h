// epoch_cursor.h - counts the accesses of a program, and goes from epoch to epoch of its mapping.
//
// An epoch begins before an access of the program. Accesses of the kernel, which are woven into the stream, are not counted. A replay asks before
// each access, or cuts a run of accesses where an epoch begins.
#pragma once

#include <algorithm>

#include "os/mapped_pages.h"

namespace tessera::sim {

class EpochCursor {
public:
    /// Null: pages that never change.
    explicit EpochCursor(MappedPages* pages) : pages_(pages) {
        if (pages != nullptr) begin_ = pages->next_change();
    }

    uint64_t accesses() const { return accesses_; }
    /// Counts the next access. True: an epoch begins before it, and change() comes first.
    bool next_access() { return accesses_++ == begin_; }

    /// How many of the next `count` accesses come before an epoch; `count`: none begins there.
    size_t until_epoch(size_t count) const { return std::min<uint64_t>(begin_ - accesses_, count); }
    void skip(size_t count) { accesses_ += count; }

    /// The epoch begins. Returns the ranges that changed. pre: there is one.
    std::vector<VirtRange> change() {
        std::vector<VirtRange> ranges = pages_->change();
        begin_ = pages_->next_change();
        return ranges;
    }

private:
    MappedPages* pages_;
    uint64_t accesses_ = 0;
    uint64_t begin_ = ~uint64_t{0};  ///< access before which the next epoch begins
};

}  // namespace tessera::sim
