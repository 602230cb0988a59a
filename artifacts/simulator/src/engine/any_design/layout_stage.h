// layout_stage.h - the functional stage of one layout: its design and its caches, updated chunk by chunk.
#pragma once

#include <optional>

#include "engine/cache_port.h"
#include "engine/epoch_cursor.h"
#include "engine/any_design/flat_cache.h"
#include "engine/any_design/outcome_table.h"
#include "engine/weave/table_check.h"
#include "os/address_space.h"

namespace tessera::sim::any_design {

using LayoutCaches = CachePort<FlatCache>;

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
    template <bool counted>
    void second_page(Counts& counts, const Chunk& chunk, const ChunkEvents& events, size_t crossing, OutcomeTable* table);
    void second_page_tlb_only(Counts& counts, const Chunk& chunk, const ChunkEvents& events, size_t crossing);
    std::optional<Access> second_of(const Chunk& chunk, const ChunkEvents& events, size_t crossing);

    /// Before each access: an epoch of the mapping may begin.
    void pass_epochs() {
        if (source_ == Source::program && epochs_.next_access()) change();
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
    EpochCursor epochs_{space_.mapping()};
    LayoutCaches caches_;
    std::unique_ptr<weave::TableCheck> check_;  ///< null: tables are not checked
    bool identity_;  ///< physical = virtual, so that lines to come are known
    unsigned lane_;
    Source source_ = Source::program;  ///< of the chunk at hand
    std::array<Counts, 2> of_;         ///< by source
};

}  // namespace tessera::sim::any_design
