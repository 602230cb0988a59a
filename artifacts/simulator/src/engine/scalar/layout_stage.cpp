#include "engine/scalar/layout_stage.h"

namespace tessera::sim::scalar {
namespace {

constexpr size_t ahead = 10;  ///< accesses between a host prefetch and its use

}  // namespace

LayoutStage::LayoutStage(const FunctionalContext& context, const Layout& layout, unsigned lane)
    : space_(context.pools, layout), design_(designs().make(context.platform.mmu_design, DesignContext{context.platform, space_})),
      caches_(context.platform), identity_(context.platform.allocator == "identity"), lane_(lane) {}

void LayoutStage::tlb_only(const Chunk& chunk, const ChunkEvents& events) {
    auto fetch = events.fetches().begin();
    size_t access = 0;
    for (size_t e = 0; e < chunk.executions; ++e) {
        for (; fetch != events.fetches().end() && fetch->execution == e; ++fetch) {
            if (fetch->first_touch) design_->touch(fetch->page);
            ++(design_->fetch_tlb_only(fetch->page) == Translation::miss ? counts_.instruction_stlb_misses : counts_.instruction_stlb_hits);
        }
        for (const size_t end = access + chunk.access_counts[e]; access < end; ++access) {
            const VirtAddr address(chunk.addresses[access]);
            if (events.first_touch(access)) design_->touch(address);
            const Translation found = design_->access_tlb_only(address);
            counts_.stlb_hits += found == Translation::stlb_hit;
            counts_.stlb_misses += found == Translation::miss;
        }
    }
}

template <bool counted>
void LayoutStage::fetch(const Fetch& fetch, size_t index, OutcomeTable* table) {
    if (fetch.first_touch) design_->touch(fetch.page);
    const auto served = caches_.walker_served;
    caches_.begin();
    const Translation found = design_->fetch(fetch.page, caches_);
    caches_.check_fetch(found);
    caches_.walker_served = served;  // loads of the instruction side are not the walker loads that go with C
    ++(found == Translation::miss ? counts_.instruction_stlb_misses : counts_.instruction_stlb_hits);
    if constexpr (counted) {
        counts_.instruction_walk_cycles += caches_.walk().value;
        if (table != nullptr) table->fetch(index, lane_, caches_, found);
    }
}

template <bool counted>
void LayoutStage::access(const Chunk& chunk, const ChunkEvents& events, size_t index, OutcomeTable* table) {
    const VirtAddr address(chunk.addresses[index]);
    if (events.first_touch(index)) design_->touch(address);
    caches_.begin();
    const Translation found = design_->access(address, chunk.is_store[index] != 0, caches_);
    caches_.check_access(found);
    counts_.stlb_hits += found == Translation::stlb_hit;
    counts_.stlb_misses += found == Translation::miss;
    if constexpr (counted) {
        counts_.counted_misses += found == Translation::miss;
        counts_.walk_cycles += caches_.walk().value;
        ++counts_.program[static_cast<size_t>(caches_.level())];
        if (table != nullptr) table->access(index, lane_, caches_, found);
    }
}

template <bool counted>
void LayoutStage::run(const Chunk& chunk, const ChunkEvents& events, OutcomeTable* table) {
    const auto walker_before = caches_.walker_served;
    const auto& fetches = events.fetches();
    const auto& asks = events.asks();
    size_t next_fetch = 0, next_ask = 0, index = 0;
    for (size_t e = 0; e < chunk.executions; ++e) {
        for (; next_fetch < fetches.size() && fetches[next_fetch].execution == e; ++next_fetch)
            fetch<counted>(fetches[next_fetch], next_fetch, table);
        for (const size_t end = index + chunk.access_counts[e]; index < end; ++index) {
            if (identity_ && index + ahead < chunk.accesses) caches_.fetch_sets(line_of(PhysAddr(chunk.addresses[index + ahead])));
            access<counted>(chunk, events, index, table);
            for (; next_ask < asks.size() && asks[next_ask].access == index; ++next_ask) {
                const Ask& ask = asks[next_ask];
                const PhysAddr physical(caches_.physical().value + (ask.target.value - chunk.addresses[index]));
                const MemoryLevel level = caches_.prefetch(line_of(physical), ask.into_l1d);
                if (table != nullptr) table->prefetch(next_ask, lane_, level);
            }
        }
    }
    if constexpr (counted)
        for (size_t level = 0; level < 4; ++level) counts_.walker[level] += caches_.walker_served[level] - walker_before[level];
}

template void LayoutStage::run<false>(const Chunk&, const ChunkEvents&, OutcomeTable*);
template void LayoutStage::run<true>(const Chunk&, const ChunkEvents&, OutcomeTable*);

}  // namespace tessera::sim::scalar
