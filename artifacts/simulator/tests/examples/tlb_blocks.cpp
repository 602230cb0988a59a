// tlb_blocks.cpp - translations in L2: a block there holds the entries of eight pages (after Victima, Kanellopoulos et al., MICRO 2023), and
// a replacement policy that keeps such blocks longer than data.
//
// Behind an L1 DTLB miss, the design looks for the block of the page in L2. If L2 has it, the access is an stlb_hit. Else the page is
// walked, and its block enters L2. Blocks are in a region of physical memory of their own. Not modelled: blocks of 2MB and 1GB pages
// and of code, which always walk; when a block pays off (the paper's predictor).
#include <vector>

#include "base/error.h"
#include "mmu/base_design.h"
#include "os/physical_map.h"

namespace tessera::sim {
namespace {

class TlbBlocks final : public BaseDesign<>, private EvictionWatcher {
public:
    TlbBlocks(bool watches, const DesignContext& context) : BaseDesign(context), watches_(watches) {}

    bool needs_caches() const override { return true; }
    EvictionWatcher* eviction_watcher() override { return watches_ ? this : nullptr; }
    std::vector<StructureCounts> structures() const override { return {{"blocks", filled_, evicted_, 0}}; }

protected:
    Translated look_up(const Access&, PageNumber page, Port* port) override {
        if (page.size != PageSize::small_4kb || !port->holds(MemoryLevel::l2, block_of(page))) return Translation::miss;
        port->fill(MemoryLevel::l2, block_of(page));
        return Translation::stlb_hit;
    }
    void fill(const Access&, PageNumber page, Port* port) override {
        if (page.size != PageSize::small_4kb) return;
        ++filled_;
        port->fill(MemoryLevel::l2, block_of(page));
    }
    bool regular_hit(PageNumber) override { return false; }
    void fill_regular(PageNumber) override {}
    void drop(VirtRange) override {
        throw Refusal("a mapping of several epochs under this mmu.design", "blocks stay in L2 when their pages change",
                      "use a mapping with one epoch");
    }

private:
    static PhysAddr block_of(PageNumber page) { return PhysAddr(physical::far.begin + (page.number >> 3) * 64); }
    void evicted(MemoryLevel, LineNumber, LineClass held) override { evicted_ += held == LineClass::tlb_block; }

    bool watches_;
    uint64_t filled_ = 0, evicted_ = 0;
};

const Registered row(designs(), "example-tlb-blocks", "blocks of translations in L2",
                     {{"watches", "0 or 1", 0, 1, 1, "assumed: for tests", "1: counts the blocks that are evicted"}},
                     [](const OwnValues& own, const DesignContext& context) {
                         return std::make_unique<TlbBlocks>(own["watches"] != 0, context);
                     });

/// LRU among the ways that hold no tlb_block; among all, if all do.
class BlocksLast final : public CacheReplacement {
public:
    BlocksLast(size_t sets, size_t ways) : ways_(ways), used_(sets * ways), block_(sets * ways) {}
    void hit(size_t set, size_t way, const LineReference& by) override {
        used_[set * ways_ + way] = ++now_;
        if (by.holds == LineClass::tlb_block) block_[set * ways_ + way] = true;
    }
    void fill(size_t set, size_t way, const LineReference& by) override {
        used_[set * ways_ + way] = ++now_;
        block_[set * ways_ + way] = by.holds == LineClass::tlb_block;
    }
    size_t victim(size_t set, const LineReference&) override {
        const auto later = [&](size_t a, size_t b) {
            const size_t at = set * ways_;
            return std::pair(block_[at + a], used_[at + a]) < std::pair(block_[at + b], used_[at + b]);
        };
        size_t found = 0;
        for (size_t way = 1; way < ways_; ++way) found = later(way, found) ? way : found;
        return found;
    }

private:
    size_t ways_;
    uint64_t now_ = 0;
    std::vector<uint64_t> used_;  ///< [set][way]: when
    std::vector<bool> block_;  ///< [set][way]
};

const Registered blocks_last(replacements(), "example-blocks-last", "LRU, where blocks of translations stay longer than data",
                             [](size_t sets, size_t ways, const Platform&) { return std::make_unique<BlocksLast>(sets, ways); });

}  // namespace
}  // namespace tessera::sim
