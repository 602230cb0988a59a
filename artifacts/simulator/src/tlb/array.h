// array.h - one set-associative TLB array: page names and a replacement policy (tlb/entry_array.h).
//
// A page's name is its number together with its size, so that one array can hold several sizes. Its set is its number, in
// units of its own size, modulo the sets. The class also implements page-walk caches, whose entries have the name of the
// region that they cover. Not modelled: coalescing of neighbouring pages (designs that do so use entries with a payload).
#pragma once

#include "base/types.h"
#include "tlb/entry_array.h"
#include "tlb/entry_name.h"

namespace tessera::sim {

class TlbArray {
public:
    /// geometry.entries 0: an array that does not exist; it never hits. Throws Refusal on an unknown policy.
    TlbArray(const Geometry& geometry, const Chosen& replacement, const Platform& platform) : entries_(geometry, replacement, platform) {}

    bool exists() const { return entries_.exists(); }

    /// True if present; the policy is then told about the hit.
    bool lookup(PageNumber page) { return entries_.lookup(page.number, entry_name(page)) != nullptr; }

    /// pre: the page is not present. True if another page was evicted; `evicted` is then that page.
    bool fill(PageNumber page, PageNumber* evicted = nullptr) {
        EntryArray<Nothing>::Evicted out;
        const bool full = entries_.fill(page.number, entry_name(page), {}, &out);
        if (full && evicted != nullptr) *evicted = page_of_entry(out.name);
        return full;
    }

    /// lookup(), and fill() if the page was not there, with one search.
    bool lookup_or_fill(PageNumber page) { return entries_.lookup_or_fill(page.number, entry_name(page)); }

    /// Steps of tlb/entry_array.h.
    EntryPlace seek(PageNumber page) const { return entries_.seek(page.number, entry_name(page)); }
    void enter(EntryPlace at, PageNumber page) { entries_.enter(at, entry_name(page)); }

    /// Forgets the pages that the range overlaps.
    void drop(VirtRange range) {
        entries_.drop([range](uint64_t name, Nothing) { return overlaps(page_of_entry(name), range); });
    }

private:
    struct Nothing {};
    EntryArray<Nothing> entries_;
};

}  // namespace tessera::sim
