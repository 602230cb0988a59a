// layout_stage.h - the functional stage of one layout: its design and its caches, updated chunk by chunk.
#pragma once

#include "engine/scalar/flat_cache.h"
#include "engine/scalar/outcome_table.h"
#include "engine/weave/table_check.h"
#include "mmu/checked_port.h"
#include "os/address_space.h"

namespace tessera::sim::scalar {

/// Data caches of one layout, moved on by its design and by prefetches (rules: cache/hierarchy.h).
class LayoutCaches final : public CheckedPort {
public:
    explicit LayoutCaches(const Platform& p) : CheckedPort(p), mixed_(p) {
        for (size_t level = 0; level < load_cycles_.size(); ++level)
            load_cycles_[level] = walker_load_cycles(p, static_cast<MemoryLevel>(level));
        if (p.walker_pollutes == 0) clean_ = std::make_unique<FlatHierarchy>(p);
    }
    MemoryLevel prefetch(LineNumber line, bool into_l1d) {
        if (into_l1d) return serve_program(line);
        const MemoryLevel level = mixed_.reference_below_l1d(line);
        return clean_ == nullptr ? level : clean_->reference_below_l1d(line);
    }
    /// Host prefetch for a line that is likely to be asked for soon.
    void fetch_sets(LineNumber line) const { mixed_.fetch_sets(line); }
    std::array<uint64_t, 4> walker_served{};  ///< all loads since the stage was made

    std::array<uint64_t, 4> background_served{};

private:
    MemoryLevel load(LineNumber line, LoadFrom from) { return from == LoadFrom::l1d ? mixed_.reference(line) : mixed_.reference_l3(line); }
    MemoryLevel serve_walker(LineNumber line, LoadFrom from) override {
        const MemoryLevel level = load(line, from);
        ++walker_served[static_cast<size_t>(level)];
        return level;
    }
    MemoryLevel serve_background(LineNumber line, LoadFrom from) override {
        const MemoryLevel level = load(line, from);
        ++background_served[static_cast<size_t>(level)];
        return level;
    }
    Cycles serve_backgrounds(std::span<const PhysAddr> addresses, LoadFrom from) override {
        Cycles all;
        for (const PhysAddr address : addresses) {
            const auto level = static_cast<size_t>(load(line_of(address), from));
            ++background_served[level];
            all += load_cycles_[level];
        }
        return all;
    }
    void expect(std::span<const PhysAddr> addresses) const override {
        for (const PhysAddr address : addresses) mixed_.fetch_sets_unless_in_l1d(line_of(address));
    }
    bool cache_holds(MemoryLevel level, LineNumber line) const override { return mixed_.holds(level, line); }
    void cache_fill(MemoryLevel level, LineNumber line) override { mixed_.fill(level, line); }
    MemoryLevel serve_program(LineNumber line) override {
        const MemoryLevel level = mixed_.reference(line);
        return clean_ == nullptr ? level : clean_->reference(line);
    }

    std::array<Cycles, 4> load_cycles_;  ///< of translation hardware, by level
    FlatHierarchy mixed_;
    std::unique_ptr<FlatHierarchy> clean_;  ///< without walker loads, for the ablation
};

class LayoutStage {
public:
    LayoutStage(const FunctionalContext& context, const Layout& layout, unsigned lane);

    void tlb_only(const Chunk& chunk, const ChunkEvents& events);
    /// table null: no outcomes are needed.
    void warm(const Chunk& chunk, const ChunkEvents& events) { run<false>(chunk, events, nullptr); }
    void counted(const Chunk& chunk, const ChunkEvents& events, OutcomeTable* table) { run<true>(chunk, events, table); }

    /// What was counted so far, of the program; structures of the design are of all chunks.
    Counts counts() const;
    const Counts& kernel_counts() const { return of_[size_t(Source::kernel)]; }
    UnitSoFar so_far() const {
        const Counts& of_program = of_[size_t(Source::program)];
        return {of_program.timed_misses, of_program.walk_cycles};
    }
    bool needs_caches() const { return design_->needs_caches(); }

private:
    void tlbs(const Chunk& chunk, const ChunkEvents& events);
    template <bool counted>
    void caches(const Chunk& chunk, const ChunkEvents& events, OutcomeTable* table);
    template <bool counted>
    void run(const Chunk& chunk, const ChunkEvents& events, OutcomeTable* table);
    template <bool counted>
    void fetch(Counts& counts, const Fetch& fetch, size_t index, OutcomeTable* table);
    void fetch_sets(const Chunk& chunk, size_t index) const;
    template <bool counted>
    void access(Counts& counts, const Chunk& chunk, const ChunkEvents& events, size_t index, OutcomeTable* table);

    /// Before each access: an epoch of the mapping may begin. Epochs are numbers of the program's accesses.
    void pass_epochs() {
        if (source_ == Source::program && accesses_++ == next_change_) change();
    }
    void enter(const Chunk& chunk) {
        if (check_ && chunk.source == Source::kernel) check_->woven(chunk);
        source_ = chunk.source;
    }
    void change();
    template <class Work>
    void naming_accesses(Work&& work);

    AddressSpace space_;
    std::unique_ptr<Design> design_;
    uint64_t accesses_ = 0;  ///< of the stream so far
    uint64_t next_change_ = ~uint64_t{0};
    LayoutCaches caches_;
    std::unique_ptr<weave::TableCheck> check_;  ///< null: tables are not checked
    bool identity_;  ///< physical = virtual, so that lines to come are known
    unsigned lane_;
    Source source_ = Source::program;  ///< of the chunk at hand
    std::array<Counts, 2> of_;         ///< by source
};

}  // namespace tessera::sim::scalar
