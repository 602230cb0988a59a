// walker.h - a page walk over the platform's page table and walk caches, for designs that need one.
//
// A walk starts at the first entry that the walk caches do not hold and loads one entry per level down to the leaf. A
// non-leaf entry enters its walk cache right after its load, before the next load. Walk caches never keep leaf entries. Not
// modelled: faults, speculative walks on wrong paths.
#pragma once

#include "mmu/design.h"
#include "pagetable/format.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {

class Walker {
public:
    /// Throws Refusal where the platform names a format or walk cache that does not exist.
    explicit Walker(const Platform& p)
        : table_(page_table_formats().make(p.page_table_format, p)), walk_cache_(walk_caches().make(p.walk_cache, p)) {}

    void touch(VirtAddr address) { table_->touch(address); }

    /// Under the log of an operating system: its tables.
    void follow(const AddressSpace& space) {
        if (space.mapping() != nullptr && space.mapping()->tables() != nullptr) table_->follow(*space.mapping()->tables());
    }

    void walk(VirtAddr address, PageSize size, Port& port) {
        table_->entries(address, size, path_);
        const Level leaf = path_.back().level;
        for (size_t i = walk_cache_->skip(address, path_); i < path_.size(); ++i) {
            port.walker_load(path_[i].address);
            if (points_onward(path_[i], leaf)) walk_cache_->fill(address, path_[i].level);
        }
    }

    /// A walk beside L3 without walk caches: every entry is loaded, from L3 on.
    void walk_behind_l3(VirtAddr address, PageSize size, Port& port) {
        table_->entries(address, size, path_);
        for (const EntryRead& entry : path_) port.walker_load(entry.address, LoadFrom::l3);
    }

    /// Where the entry that maps the page is. pre: touch() was called for the address's 2MB region.
    PhysAddr leaf_entry(VirtAddr address, PageSize size) {
        table_->entries(address, size, path_);
        return path_.back().address;
    }

    /// After a change of the mapping in this range.
    void changed(VirtRange range) { walk_cache_->drop(range); }

private:
    std::unique_ptr<PageTableFormat> table_;
    std::unique_ptr<WalkCache> walk_cache_;
    WalkPath path_;
};

}  // namespace tessera::sim
