// huge_parts.h - the parts of a pool with 2MB or 1GB pages (windows): protections that the hardware does not support,
// zeroing by software, marks of whole pages, pages on demand. exchange.h replaces huge pages by 4KB pages.
//
// A `part` lies in one window, whose pages have `page_bytes`. The hardware protection of a huge page is the union of what
// its used 4KB pages asked for, because mprotect cannot split it.
#pragma once

#include "core/pool_state.h"
#include "core/window_list.h"

namespace mosalloc {

class Later;

class HugeParts {
public:
    /// False if there is no memory for the tables.
    bool init(PoolState* pool);
    void add_window(Range range, uint64_t page_bytes);

    /// As Pool's functions of these names.
    long commit(Range part, uint64_t page_bytes, int prot);
    void release(Range part, uint64_t page_bytes);
    long advise(Range part, uint64_t page_bytes, int advice, Later* later);
    /// Before a commit that must not fail. On demand: maps the missing pages of `part`; those without used memory are idle.
    long keep_present(Range part, uint64_t page_bytes);
    /// `part` is not handed out any more; its huge pages stay.
    void forget(Range part, uint64_t page_bytes);
    /// Gives the huge pages around `part` the union of their pages' protections; one system call per run.
    long sync_protection(Range part, uint64_t page_bytes);
    /// Gives the huge pages `pages` this protection.
    long grant(Range pages, int prot);
    /// True if the policy does not allow to soften `prot` on `asked`, a part of `page`.
    bool must_split(Range page, Range asked, int prot) const;
    /// True if `range` contains no huge page in part only.
    bool whole_pages(Range range) const;

    bool is_present(Range page) const { return hardware(page.start) != kAbsent; }
    /// Protection of a huge page that is present.
    int granted(Range page) const { return hardware(page.start); }
    /// `page` of a window has 4KB pages from now on. Needs room in the list of windows.
    void cut(Range page);
    /// All windows have 4KB pages from now on.
    void clear() { windows_.clear(); }
    /// Calls f(huge page as offsets, page_bytes) for each huge page that is present, with memory that is handed out.
    template <class F>
    void for_each_used_page(F f) const;
    const WindowList& windows() const { return windows_; }
    /// During a fork: address of the copy of window `i` for the child.
    void set_copy(size_t i, uint64_t address) { windows_.set_copy(i, address); }

private:
    static constexpr uint8_t kAbsent = 1 << 7;  ///< beside a protection: on demand, and not mapped now
    uint8_t& hardware(uint64_t offset) const { return hardware_[offset / kPage2M]; }
    void set_hardware(Range pages, int value);
    bool idle(Range page) const { return !pool_->pages.any_used(page); }
    void free_states(Range page, Range freed);
    void end_marks(Range page);
    long clear_dirty(Range part, uint64_t page_bytes);
    long make_present(Range part, uint64_t page_bytes);
    void count_idle(Range pages, uint64_t page_bytes);
    void shrink(Range page);
    long populate(Range part, uint64_t page_bytes, int advice, Later* later);
    long advise_whole_pages(Range part, uint64_t page_bytes, int advice);

    PoolState* pool_ = nullptr;
    uint64_t idle_bytes_ = 0;      ///< on demand: mapped huge pages without used memory
    uint8_t* hardware_ = nullptr;  ///< per 2MB: protection of the huge page there, or kAbsent
    WindowList windows_;
};

/// The whole huge pages around `part`.
constexpr Range pages_around(Range part, uint64_t page_bytes) {
    return {align_down(part.start, page_bytes), align_up(part.end, page_bytes)};
}

/// Calls f(page) for each huge page that `part` touches.
template <class F>
void for_each_page(Range part, uint64_t page_bytes, F f) {
    for (uint64_t at = align_down(part.start, page_bytes); at < part.end; at += page_bytes) f(Range{at, at + page_bytes});
}

template <class F>
void HugeParts::for_each_used_page(F f) const {
    for (size_t i = 0; i < windows_.count(); ++i) {
        const WindowList::Window& w = windows_.at(i);
        for_each_page(w.range, w.page_bytes, [&](Range page) {
            if (is_present(page) && !idle(page)) f(page, w.page_bytes);
        });
    }
}

}  // namespace mosalloc
