// window_list.h - the parts of a pool with huge pages, as sorted, disjoint windows. A split removes a page from its
// window, so one window can become two.
#pragma once

#include "core/base.h"

namespace mosalloc {

class WindowList {
public:
    struct Window {
        Range range;
        uint64_t page_bytes = 0;
        uint64_t copy = 0;  ///< during a fork: address of the copy for the child
    };

    /// Returns false if there is no memory for its table.
    bool init();
    /// In ascending order.
    void add(Range range, uint64_t page_bytes) { windows_[count_++] = {range, page_bytes, 0}; }
    /// `page` has 4KB pages from now on. Needs room: a window can become two.
    void cut(Range page);
    bool has_room() const;
    void set_copy(size_t i, uint64_t address) { windows_[i].copy = address; }
    void clear() { count_ = 0; }

    bool touches(Range range) const;
    /// The huge page around `offset`; empty if it is not in a window.
    Range page_around(uint64_t offset) const;
    size_t count() const { return count_; }
    const Window& at(size_t i) const { return windows_[i]; }

    /// Calls f(Range, page_bytes) for the parts of `range` in ascending order, 4096 outside windows; stops at an
    /// error (a negative result) and returns it. f must not change the list.
    template <class F>
    long for_each_part(Range range, F f) const {
        size_t next = first_after(range.start);
        while (!range.empty()) {
            Range part = range;
            uint64_t page_bytes = kPage4K;
            if (next < count_ && windows_[next].range.start <= range.start) {
                part = range.clip(windows_[next].range);
                page_bytes = windows_[next++].page_bytes;
            } else if (next < count_ && windows_[next].range.start < range.end) {
                part.end = windows_[next].range.start;
            }
            const long result = f(part, page_bytes);
            if (result < 0) return result;
            range.start = part.end;
        }
        return 0;
    }

private:
    /// Index of the first window that ends above `offset`.
    size_t first_after(uint64_t offset) const;

    Window* windows_ = nullptr;
    size_t count_ = 0;
};

}  // namespace mosalloc
