// walker.h - a page walk over the platform's page table and walk caches, for designs that need one.
//
// A walk starts at the first entry that the walk caches do not hold and loads the entries of one step after the other, in a radix table
// one for each level. Entries of a step that point onward enter the walk caches right after its loads, before the next step. Walk caches
// never keep entries that map pages. Not modelled: faults, speculative walks on wrong paths.
#pragma once

#include <algorithm>

#include "mmu/design.h"
#include "pagetable/format.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {

class Walker {
public:
    /// The table has the pages of the context and, under the log of an operating system, its tables. Throws Refusal where the platform
    /// names a format or walk cache that does not exist, or two that do not go together.
    explicit Walker(const DesignContext& context)
        : table_(page_table_formats().make(context.platform.page_table_format, context)),
          walk_cache_(walk_caches().make(context.platform.walk_cache, context.platform, table_->levels())) {}

    void touch(VirtAddr address) { table_->touch(address); }

    void walk(VirtAddr address, PageSize size, Port& port) {
        table_->entries(address, size, path_);
        const EntryRead *read = path_.data() + walk_cache_->skip(address, path_), *const end = path_.data() + path_.size();
        while (read != end) {
            const EntryRead* const next = load_step(read, end, LoadFrom::l1d, port);
            for (; read != next; ++read)
                if (read->onward) walk_cache_->fill(address, read->level);
        }
    }

    /// A walk beside L3 without walk caches: every entry is loaded, from L3 on.
    void walk_behind_l3(VirtAddr address, PageSize size, Port& port) {
        table_->entries(address, size, path_);
        const EntryRead *read = path_.data(), *const end = read + path_.size();
        while (read != end) read = load_step(read, end, LoadFrom::l3, port);
    }

    /// Where the entry that maps the page is. pre: touch() was called for the address's 2MB region.
    PhysAddr leaf_entry(VirtAddr address, PageSize size) {
        table_->entries(address, size, path_);
        return path_.back().address;
    }

    /// After a change of the mapping in this range.
    void changed(VirtRange range) {
        table_->changed(range);
        walk_cache_->drop(range);
    }

private:
    /// The reads of the step that begins with `first`. Returns the next step.
    const EntryRead* load_step(const EntryRead* first, const EntryRead* end, LoadFrom from, Port& port) {
        if (first + 1 != end && first[1].step == first->step) [[unlikely]]
            return load_together(first, end, from, port);
        port.walker_load(first->address, from);
        return first + 1;
    }
    __attribute__((noinline)) const EntryRead* load_together(const EntryRead* first, const EntryRead* end, LoadFrom from, Port& port) {
        const EntryRead* const next = std::find_if(first, end, [&](const EntryRead& read) { return read.step != first->step; });
        together_.clear();
        for (const EntryRead* read = first; read != next; ++read) together_.push_back(read->address);
        port.walker_loads(together_, from);
        return next;
    }

    std::unique_ptr<PageTableFormat> table_;
    std::unique_ptr<WalkCache> walk_cache_;
    WalkPath path_;
    std::vector<PhysAddr> together_;
};

}  // namespace tessera::sim
