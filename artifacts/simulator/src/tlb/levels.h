// levels.h - the two levels of conventional TLBs, each by itself, for organisations and designs that use one of them.
//
// L1: one array per size; with in_4kb, a size lives in the 4KB array. Second level: 4KB pages are in `stlb`. 2MB and 1GB
// pages are in `stlb` if it holds them, else in their own array if there is one, else in no array (MICRO'20 Table 4).
#pragma once

#include "tlb/array.h"

namespace tessera::sim {

class FirstLevel {
public:
    explicit FirstLevel(const Platform& p)
        : in_4kb_2mb_(p.l1_2mb_in_4kb != 0),
          in_4kb_1gb_(p.l1_1gb_in_4kb != 0),
          l1_4kb_(p.l1_4kb, p.l1_replacement, p),
          l1_2mb_(p.l1_2mb, p.l1_replacement, p),
          l1_1gb_(p.l1_1gb, p.l1_replacement, p),
          repeats_(p.l1_replacement == "lru") {}

    bool lookup(PageNumber page) {
        const uint64_t name = entry_name(page);
        if (name == newest_) return true;
        const bool found = of(page.size).lookup(page);
        if (found && repeats_) newest_ = name;
        return found;
    }
    /// pre: the page is not present.
    void fill(PageNumber page) {
        TlbArray& array = of(page.size);
        array.fill(page);
        if (array.exists() && repeats_) newest_ = entry_name(page);
    }
    void drop(VirtRange range) {
        newest_ = nothing;
        for (TlbArray* array : {&l1_4kb_, &l1_2mb_, &l1_1gb_}) array->drop(range);
    }

private:
    TlbArray& of(PageSize size) {
        if (size == PageSize::large_2mb && !in_4kb_2mb_) return l1_2mb_;
        if (size == PageSize::huge_1gb && !in_4kb_1gb_) return l1_1gb_;
        return l1_4kb_;
    }

    static constexpr uint64_t nothing = ~uint64_t{0};

    bool in_4kb_2mb_, in_4kb_1gb_;
    TlbArray l1_4kb_, l1_2mb_, l1_1gb_;
    bool repeats_;                ///< LRU: a second look-up of a page changes nothing
    uint64_t newest_ = nothing;   ///< name of the page that was looked up or filled last; unless repeats_, nothing
};

class SecondLevel {
public:
    explicit SecondLevel(const Platform& p)
        : holds_2mb_(p.stlb_holds_2mb != 0),
          holds_1gb_(p.stlb_holds_1gb != 0),
          stlb_(p.stlb, p.stlb_replacement, p),
          stlb_2mb_(p.stlb_2mb, p.stlb_replacement, p),
          stlb_1gb_(p.stlb_1gb, p.stlb_replacement, p) {}

    bool lookup(PageNumber page) { return of(page.size).lookup(page); }
    /// pre: the page is not present. True if another page was evicted; `evicted` is then that page.
    bool fill(PageNumber page, PageNumber* evicted = nullptr) { return of(page.size).fill(page, evicted); }
    /// Both: true if the page was present.
    bool lookup_or_fill(PageNumber page) { return of(page.size).lookup_or_fill(page); }
    void drop(VirtRange range) {
        for (TlbArray* array : {&stlb_, &stlb_2mb_, &stlb_1gb_}) array->drop(range);
    }

private:
    TlbArray& of(PageSize size) {
        if (size == PageSize::large_2mb && !holds_2mb_) return stlb_2mb_;
        if (size == PageSize::huge_1gb && !holds_1gb_) return stlb_1gb_;
        return stlb_;
    }

    bool holds_2mb_, holds_1gb_;
    TlbArray stlb_, stlb_2mb_, stlb_1gb_;
};

}  // namespace tessera::sim
