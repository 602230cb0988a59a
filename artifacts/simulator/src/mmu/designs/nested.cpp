// nested.cpp - conventional TLBs with the two-dimensional walk of a virtual machine (Bhargava et al., ASPLOS 2008; Park, KAIST 2019, 2.5).
//
// A TLB entry maps a guest-virtual page to its final frame, so H and M are those of the design conventional. A walk reads the guest's
// table. Each guest entry has a guest-physical address, which the host's table translates first; last, the host's table
// translates the data's guest-physical page. Without caches, a walk of g guest and h host levels is (g + 1)(h + 1) - 1 loads: 24
// for a 4KB page and four levels. The host's leaf is of the page's own size for data, 4KB for the guest's tables: 2MB 18, 1GB 12.
// Walk caches (pwc.*) hold entries of the guest's table and skip their host walks, too. The nested TLB holds guest-physical pages.
//
// Assumptions of our own. Both tables have page_table.levels levels. Layout or mapping are the composed result: guest and
// host have the final page size. The guest-physical address of data is its virtual address. The guest's tables are at 2^47
// in guest-physical memory, so data must be below (kernel work of --weave is not); in the machine, they are where those of other designs
// are. The host's tables are in physical::far. The nested TLB is fully associative with LRU, takes no cycles, and keeps pages of
// data and of tables; the host's table has no other walk caches. Code pages are 4KB pages in both dimensions.
//
// only_4kb: both dimensions have 4KB pages alone, whatever the layout or mapping says, so each walk without caches has 24 loads (Park,
// 2.6.2).
//
// Invariant: both tables grow in touch() only, in an order that is the same in all layouts, so all layouts read entries at
// the same addresses. Not modelled: large pages of the host under small ones of the guest, exits, changes of the guest's tables.
// Keep walker.load_adds_cycles = 0 with this design: it would count the host's walk a second time.
#include "mmu/over_tlbs.h"
#include "os/physical_map.h"
#include "pagetable/page_table.h"
#include "tessera/common/fixed_text.h"
#include "tlb/array.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {
namespace {

class NestedWalker {
public:
    NestedWalker(uint64_t nested_entries, const DesignContext& context)
        : guest_(context.platform.page_table_levels),
          host_(context.platform.page_table_levels),
          walk_cache_(walk_caches().make(context.platform.walk_cache, context.platform, onward_levels(guest_.root()))),
          nested_({nested_entries, nested_entries}, "lru", context.platform) {
        if (const Platform& p = context.platform; p.page_table_format != "radix")
            throw Refusal("page_table.format = " + p.page_table_format.name + " under mmu.design = nested",
                          "the design has radix tables only", "set page_table.format = radix");
    }

    /// Reserves the data's tables in both dimensions, and the host's tables for the guest's tables.
    void touch(VirtAddr address) {
        if (address.value >= guest_tables) {
            char found[64];
            FixedText(found).add("first touch of address ").hex(address.value);
            throw Refusal("mmu.design = nested with addresses below 2^47", found,
                          "leave out --weave if it is of kernel work; if an access of the program goes so far, use another design");
        }
        host_.touch(address);
        guest_.entries(address, PageSize::small_4kb, physical::tables.begin, guest_path_);
        for (const EntryRead& entry : guest_path_) host_.touch(guest_physical(entry.address));
    }

    /// What it loads does not depend on what the loads find, so they are collected.
    void walk(VirtAddr address, PageSize size, Port& port) {
        loads_.clear();
        guest_.entries(address, size, physical::tables.begin, guest_path_);
        for (size_t i = walk_cache_->skip(address, guest_path_); i < guest_path_.size(); ++i) {
            const EntryRead& entry = guest_path_[i];
            walk_host(guest_physical(entry.address), PageSize::small_4kb);
            loads_.push_back(entry.address);
            if (entry.onward) walk_cache_->fill(address, entry.level);
        }
        walk_host(address, size);
        port.walker_loads_in_turn(loads_);
    }

    void changed(VirtRange range) {
        walk_cache_->drop(range);
        nested_.drop(range);  // guest-physical = virtual for data; the guest's tables stay where they are
    }

    StructureCounts nested_tlb() const { return {"nested-tlb", accesses_, hits_, 0}; }

private:
    static constexpr uint64_t guest_tables = uint64_t{1} << 47;
    static_assert(guest_tables + physical::table_frames * 4096 <= address_limit && physical::far.holds(physical::table_frames * 4096));

    static VirtAddr guest_physical(PhysAddr entry) { return VirtAddr(entry.value - physical::tables.begin + guest_tables); }

    /// `address` is guest-physical.
    void walk_host(VirtAddr address, PageSize size) {
        const PageNumber page = page_of(address, size);
        ++accesses_;
        if (nested_.lookup_or_fill(page)) {
            ++hits_;
            return;
        }
        host_.entries(address, size, physical::far.begin, host_path_);
        for (const EntryRead& entry : host_path_) loads_.push_back(entry.address);
    }

    PageTable guest_, host_;
    std::unique_ptr<WalkCache> walk_cache_;
    TlbArray nested_;
    WalkPath guest_path_, host_path_;
    std::vector<PhysAddr> loads_;  ///< of the walk at hand, in order
    uint64_t accesses_ = 0, hits_ = 0;
};

class Nested final : public OverTlbs<NestedWalker> {
public:
    Nested(const OwnValues& own, const DesignContext& context)
        : OverTlbs(own["only_4kb"] != 0 ? context.with_4kb_pages() : context, context.platform.tlb_organisation,
                   own["nested_tlb_entries"]) {}

    /// The nested TLB, over the walks of data and code.
    std::vector<StructureCounts> structures() const override { return {walker_.nested_tlb()}; }
};

const Registered row(designs(), "nested", "conventional TLBs with the two-dimensional walk of a virtual machine",
                     {{"nested_tlb_entries", "entries", 0, 4096, 16, "assumed: about as many as the pages that one walk needs",
                       "Nested TLB: guest-physical pages whose host walk is skipped; 0: none"},
                      {"only_4kb", "0 or 1", 0, 1, 0, "assumed: guest and host have the pages of the layout or mapping",
                       "1: guest and host have 4KB pages alone, whatever the layout or mapping says"}},
                     [](const OwnValues& own, const DesignContext& context) { return std::make_unique<Nested>(own, context); });

}  // namespace
}  // namespace tessera::sim
