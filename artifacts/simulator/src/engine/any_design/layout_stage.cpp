#include "engine/any_design/layout_stage.h"

#include "base/woven.h"
#include "engine/crossings.h"
#include "os/kernel_addresses.h"

namespace tessera::sim::any_design {
namespace {

constexpr size_t ahead = 10;  ///< accesses between a host prefetch and its use

}  // namespace

LayoutStage::LayoutStage(const FunctionalContext& context, const Layout& layout, unsigned lane)
    : space_(context.pools, layout),
      design_(designs().make(context.platform.mmu_design, DesignContext{context.platform, space_})),
      caches_(context.platform, design_->eviction_watcher()),
      identity_(context.platform.allocator == "identity"),
      lane_(lane) {
    if (program_blocks(context.blocks) < context.blocks.size()) space_.add_kernel(direct_map(context.platform));
    if (context.check_tables) {
        check_ = std::make_unique<weave::TableCheck>(*layout.mapping, context.blocks);
        caches_.watch(check_.get());
    }
}

Counts LayoutStage::counts() const {
    Counts found = of_[size_t(Source::program)];
    found.design.structures = design_->structures();
    return found;
}

void LayoutStage::change() {
    for (const VirtRange range : epochs_.change()) design_->changed(range);
    for (const AreaChange& area : space_.mapping()->area_changes()) design_->area_changed(area);
    if (check_) check_->changed(*space_.mapping());
}

/// Calls work(), and adds the number of the access to the message of a page without a frame.
template <class Work>
void LayoutStage::naming_accesses(Work&& work) {
    try {
        work();
    } catch (const Unmapped& missing) {
        throw missing_page(missing, epochs_.accesses() - 1);
    }
}

void LayoutStage::tlb_only(const Chunk& chunk, const ChunkEvents& events) {
    enter(chunk);
    naming_accesses([&] { tlbs(chunk, events); });
}

void LayoutStage::tlbs(const Chunk& chunk, const ChunkEvents& events) {
    Counts& counts = of_[size_t(source_)];
    auto fetch = events.fetches().begin();
    size_t access = 0, crossing = 0;
    for (size_t e = 0; e < chunk.executions; ++e) {
        for (; fetch != events.fetches().end() && fetch->execution == e; ++fetch) {
            if (fetch->first_touch) design_->touch(fetch->page);
            counts.count_instruction(design_->fetch_tlb_only(fetch->page));
        }
        for (const size_t end = access + chunk.access_counts[e]; access < end; ++access) {
            pass_epochs();
            const VirtAddr address(chunk.addresses[access]);
            if (events.first_touch(access)) design_->touch(address);
            counts.count(design_->access_tlb_only({address, chunk.is_store[access] != 0, events.pc(access)}));
            if (crossing < chunk.crossings && chunk.crossing[crossing] == access) [[unlikely]]
                second_page_tlb_only(counts, chunk, events, crossing++);
        }
    }
}

template <bool counted>
void LayoutStage::fetch(Counts& counts, const Fetch& fetch, size_t index, OutcomeTable* table) {
    if (fetch.first_touch) design_->touch(fetch.page);
    const auto served = caches_.walker_served;
    caches_.begin({fetch.page, false, fetch.page.value});
    caches_.watch(nullptr);  // the log follows data accesses: pages of code are not all in it
    const Translation found = design_->fetch(fetch.page, caches_);
    caches_.watch(check_.get());
    caches_.end_fetch(found, fetch.page);
    caches_.walker_served = served;  // loads of the instruction side are not the walker loads that go with C
    counts.count_instruction(found);
    if constexpr (counted) {
        counts.instruction_walk_cycles += caches_.walk().value;
        if (table != nullptr) table->fetch(index, lane_, caches_, found);
    }
}

template <bool counted>
void LayoutStage::access(Counts& counts, const Chunk& chunk, const ChunkEvents& events, size_t index, OutcomeTable* table) {
    pass_epochs();
    const Access asked{VirtAddr(chunk.addresses[index]), chunk.is_store[index] != 0, events.pc(index)};
    if (events.first_touch(index)) design_->touch(asked.address);
    caches_.begin(asked);
    const Translated translated = design_->access(asked, caches_);
    caches_.end_access(translated, asked);
    const Translation found = translated.found;
    counts.count(found);
    if constexpr (counted) {
        counts.timed_misses += found == Translation::miss;
        counts.walk_cycles += caches_.walk().value;
        counts.design.background_cycles += caches_.background().value;
        ++counts.program[static_cast<size_t>(caches_.level())];
        if (table != nullptr) table->access(index, lane_, caches_, found);
    }
}

/// The second translation of a crossing access; none where one page holds both.
std::optional<Access> LayoutStage::second_of(const Chunk& chunk, const ChunkEvents& events, size_t crossing) {
    const size_t index = chunk.crossing[crossing];
    const VirtAddr first(chunk.addresses[index]), second = next_4kb_page(first);
    if (events.first_touch_of_second(crossing)) design_->touch(second);
    if (in_one_page(space_, design_->only_4kb_pages(), first, second)) return std::nullopt;
    return Access{second, chunk.is_store[index] != 0, events.pc(index)};
}

__attribute__((noinline)) void LayoutStage::second_page_tlb_only(Counts& counts, const Chunk& chunk, const ChunkEvents& events,
                                                                 size_t crossing) {
    if (const auto asked = second_of(chunk, events, crossing)) counts.count(design_->access_tlb_only(*asked));
}

template <bool counted>
__attribute__((noinline)) void LayoutStage::second_page(Counts& counts, const Chunk& chunk, const ChunkEvents& events, size_t crossing,
                                                        OutcomeTable* table) {
    const auto asked = second_of(chunk, events, crossing);
    if (!asked) {
        if (table != nullptr) table->in_one_page(crossing);
        return;
    }
    caches_.begin_second(*asked);
    const Translated translated = design_->access(*asked, caches_);
    caches_.end_second(translated, *asked);
    const Translation found = translated.found;
    counts.count(found);
    if constexpr (counted) {
        counts.timed_misses += found == Translation::miss;
        counts.walk_cycles += caches_.walk().value;
        counts.design.background_cycles += caches_.background().value;
        if (table != nullptr) table->second(crossing, lane_, caches_, found);
    }
}

/// Of a line to come whose address is known without translation and that is likely to miss: where virtual = physical, and of pages that the
/// kernel clears and copies.
inline void LayoutStage::fetch_sets(const Chunk& chunk, size_t index) const {
    const uint64_t address = chunk.addresses[index];
    if (identity_) caches_.fetch_sets(line_of(PhysAddr(address)));
    else if (source_ == Source::kernel && address < kernel::tables_begin) caches_.fetch_sets(line_of(PhysAddr(address - kernel::begin)));
}

template <bool counted>
void LayoutStage::run(const Chunk& chunk, const ChunkEvents& events, OutcomeTable* table) {
    enter(chunk);
    naming_accesses([&] { caches<counted>(chunk, events, table); });
}

template <bool counted>
void LayoutStage::caches(const Chunk& chunk, const ChunkEvents& events, OutcomeTable* table) {
    Counts& counts = of_[size_t(source_)];
    const auto walker_before = caches_.walker_served, background_before = caches_.background_served;
    const auto& fetches = events.fetches();
    const auto& asks = events.asks();
    size_t next_fetch = 0, next_ask = 0, next_crossing = 0, index = 0;
    for (size_t e = 0; e < chunk.executions; ++e) {
        for (; next_fetch < fetches.size() && fetches[next_fetch].execution == e; ++next_fetch)
            fetch<counted>(counts, fetches[next_fetch], next_fetch, table);
        for (const size_t end = index + chunk.access_counts[e]; index < end; ++index) {
            if (index + ahead < chunk.accesses) fetch_sets(chunk, index + ahead);
            access<counted>(counts, chunk, events, index, table);
            for (; next_ask < asks.size() && asks[next_ask].access == index; ++next_ask) {
                const Ask& ask = asks[next_ask];
                const PhysAddr physical(caches_.physical().value + (ask.target.value - chunk.addresses[index]));
                const MemoryLevel level = caches_.prefetch(line_of(physical), ask.into_l1d);
                if (table != nullptr) table->prefetch(next_ask, lane_, level);
            }
            if (next_crossing < chunk.crossings && chunk.crossing[next_crossing] == index) [[unlikely]]
                second_page<counted>(counts, chunk, events, next_crossing++, table);
        }
    }
    if constexpr (counted)
        for (size_t level = 0; level < 4; ++level) {
            counts.walker[level] += caches_.walker_served[level] - walker_before[level];
            counts.design.background[level] += caches_.background_served[level] - background_before[level];
        }
}

template void LayoutStage::run<false>(const Chunk&, const ChunkEvents&, OutcomeTable*);
template void LayoutStage::run<true>(const Chunk&, const ChunkEvents&, OutcomeTable*);

}  // namespace tessera::sim::any_design
