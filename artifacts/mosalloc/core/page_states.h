// page_states.h - what a pool knows about its 4KB pages: a state byte for each page of a span of addresses.
//
// Ranges are byte offsets from the start of the span, multiples of 4KB. Only a table: nothing here changes memory.
#pragma once

#include <sys/mman.h>

#include "core/base.h"

namespace mosalloc {

constexpr uint8_t kProtMask = PROT_READ | PROT_WRITE | PROT_EXEC;  // bits 0-2, as in mprotect
constexpr uint8_t kUsed = 1 << 3;     ///< handed out
constexpr uint8_t kDirty = 1 << 4;    ///< in a window, was writable: clear it before the next owner sees it
constexpr uint8_t kOpen = kDirty;     ///< outside windows, free, but accessible: small_parts.h
constexpr uint8_t kForeign = 1 << 5;  ///< covered by a mapping of the program's own (a file, shared memory)
constexpr uint8_t kOdd = 1 << 6;      ///< its mapping has marks (mlock, advice, a key, a policy): end them on release
constexpr uint8_t kUnforked = 1 << 7; ///< MADV_DONTFORK: a hole in a forked child
constexpr uint8_t kMarks = kOdd | kUnforked;

class PageStates {
public:
    /// All pages of [base, base + bytes) are free. False if there is no memory for the table.
    bool init(uint64_t base, uint64_t bytes);

    uint64_t base() const { return base_; }
    uint64_t bytes() const { return bytes_; }
    Range span() const { return {base_, base_ + bytes_}; }
    Range offsets(Range addresses) const { return {addresses.start - base_, addresses.end - base_}; }
    Range addresses(Range offsets) const { return {base_ + offsets.start, base_ + offsets.end}; }

    uint8_t at(uint64_t offset) const { return states_[offset / kPage4K]; }
    bool used_at(uint64_t offset) const { return (at(offset) & kUsed) != 0; }
    int protection_at(uint64_t offset) const { return at(offset) & kProtMask; }
    /// Whether a page of `range` has one of `flags`.
    bool any(Range range, uint8_t flags) const;
    bool any_used(Range range) const { return any(range, kUsed); }
    /// The first page of `range` that is not handed out; its end if all are.
    uint64_t first_hole(Range range) const;
    bool all_used(Range range) const { return first_hole(range) == range.end; }
    /// Union over the used pages of `range`; -1 when none is used.
    int protection_of_used(Range range) const;
    /// Calls f(Range) for the runs of equal value of value(offset) in `range`; stops at an error.
    template <class Value, class F>
    long for_each_run(Range range, Value value, F f) const;
    /// Calls f(Range) for each run of pages in `range` that have all of `flags`; stops at an error.
    template <class F>
    long for_each_run_with(Range range, uint8_t flags, F f) const;
    /// Bounds of the memory that a forked child does not get.
    Range unforked() const { return unforked_; }

    void set(Range range, uint8_t state);
    /// Each page keeps its flags `kept` and gets `more`.
    void change(Range range, uint8_t kept, uint8_t more);
    void mark_odd(Range range) { change(range, 0xff, kOdd); }
    /// `range` got MADV_DONTFORK (`set`) or MADV_DOFORK.
    void mark_unforked(Range range, bool set);
    /// The used pages of `range` may have been written.
    void mark_dirty(Range range);
    /// `range` gets the states of `source` in `from`; a longer range goes on as the source's last page.
    void copy(Range range, const PageStates& from, Range source);

private:
    void extend_unforked(Range range);

    uint64_t base_ = 0;
    uint64_t bytes_ = 0;
    uint8_t* states_ = nullptr;
    Range unforked_;
};

template <class Value, class F>
long PageStates::for_each_run(Range range, Value value, F f) const {
    for (uint64_t at = range.start, end = at; at < range.end; at = end) {
        const auto first = value(at);
        while (end < range.end && value(end) == first) end += kPage4K;
        const long result = f(Range{at, end});
        if (result < 0) return result;
    }
    return 0;
}

template <class F>
long PageStates::for_each_run_with(Range range, uint8_t flags, F f) const {
    const auto has = [&](uint64_t offset) { return (at(offset) & flags) == flags; };
    return for_each_run(range, has, [&](Range run) -> long { return has(run.start) ? f(run) : 0; });
}

}  // namespace mosalloc
