// random_outcomes.h - random programs and random outcomes for the clock: no TLB or cache behind them, so that every
// combination of hits and misses comes up, in any lane, whether or not a real machine could show it.
#pragma once

#include <memory>
#include <random>

#include "branch/redirects.h"
#include "engine/crossings.h"
#include "engine/functional.h"
#include "engine/reference_core.h"

namespace tessera::sim::testing {

using Random = std::mt19937_64;

inline uint64_t below(Random& random, uint64_t n) { return random() % n; }

/// Each lane with probability 1/2^rarity.
inline uint64_t sparse_mask(Random& random, unsigned rarity) {
    uint64_t mask = ~uint64_t{0};
    for (unsigned k = 0; k < rarity; ++k) mask &= random();
    return mask;
}

inline trace::StaticBlock random_static_block(Random& random) {
    using trace::InsnKind;
    trace::StaticBlock block{0x400000 + below(random, 64) * 64, {}, {}};
    const size_t count = 1 + below(random, 8);
    for (uint16_t i = 0; i < count; ++i) {
        const unsigned slots = unsigned(below(random, 3));
        const auto some = [&](unsigned share) { return below(random, share) == 0 ? uint64_t{1} << below(random, 8) : uint64_t{0}; };
        const uint64_t address = slots > 0 ? some(2) | some(2) : some(8);
        block.insns.push_back(
            {address | some(2) | some(4), some(2) | some(2), address, static_cast<InsnKind>(below(random, 12)), uint8_t(slots), 4});
        for (unsigned s = 0; s < slots; ++s) block.slots.push_back({i, uint8_t(below(random, 2)), uint8_t(1 << below(random, 7))});
        trace::StaticInsn& insn = block.insns.back();
        insn.early_writes = below(random, 3) == 0 ? insn.writes & random() : 0;
        if (below(random, 8) == 0) insn.string = static_cast<trace::StringPart>(1 + below(random, 2));
    }
    if (below(random, 4) != 0) block.insns.back().branch = static_cast<trace::BranchKind>(1 + below(random, 6));
    return block;
}

struct OutcomeShape {
    unsigned lanes = 64;
    bool l1d_prefetches = false, l2_prefetches = false, fetches = false, physical_lines = false, walk_loads = false;
    uint32_t longest_walk_cycles = 400;
    unsigned miss_rarity = 2;    ///< each lane misses with probability 1/2^this
    unsigned most_accesses = 6;  ///< of an execution whose count is not its slots'
};

/// A chunk and its outcomes, which point into this object.
class RandomChunk {
public:
    RandomChunk(Random& random, const std::vector<trace::StaticBlock>& blocks, const OutcomeShape& shape, size_t executions)
        : random_(random), shape_(shape) {
        lanes_ = shape.lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << shape.lanes) - 1;
        for (size_t e = 0; e < executions; ++e) {
            const uint32_t block = uint32_t(below(random, blocks.size()));
            size_t count = blocks[block].slots.size();
            if (below(random, 8) == 0) count = below(random, shape.most_accesses + 1);
            if (shape.fetches)
                for (size_t pages = below(random, 16) == 0 ? 1 + below(random, 2) : 0; pages > 0; --pages) fetch(uint32_t(e));
            for (size_t i = 0; i < count; ++i) access();
            block_ids_.push_back(block);
            access_counts_.push_back(uint16_t(count));
        }
        outcomes_->accesses = addresses_.size();
        outcomes_->cycles_rows = rows_.size() / max_lanes;
        outcomes_->walk_cycles = reinterpret_cast<uint32_t (*)[max_lanes]>(rows_.data());
        outcomes_->prefetches = prefetches_.size();
        outcomes_->prefetch = prefetches_.data();
        outcomes_->fetches = fetches_.size();
        outcomes_->fetch = fetches_.data();
        outcomes_->crossings = crossings_.size();
        outcomes_->crossing = crossings_.data();
        outcomes_->walk_loads = walk_loads_.size();
        outcomes_->walk_load = walk_loads_.data();
        if (shape.physical_lines) outcomes_->physical_line = physical_.data();
    }

    Chunk chunk() const {
        return {addresses_.size(), addresses_.data(), stores_.data(), block_ids_.size(), block_ids_.data(), access_counts_.data()};
    }
    const Outcomes& outcomes() const { return *outcomes_; }

    /// Feeds one layout's share to the reference core.
    /// redirected: of each execution.
    void replay(ReferenceCore& core, const std::vector<trace::StaticBlock>& blocks, const std::vector<bool>& redirected,
                unsigned lane) const {
        size_t next = 0, prefetch = 0, fetch = 0;
        for (size_t e = 0; e < block_ids_.size(); ++e) {
            std::vector<FetchRequest> pages;
            for (; fetch < fetches_.size() && fetches_[fetch].execution == e; ++fetch) {
                const FetchOutcome& f = fetches_[fetch];
                const bool walks = f.walks >> lane & 1;
                pages.push_back({walks ? Translation::miss : Translation::stlb_hit, Cycles(walks ? cycles(f.cycles_row, lane) : 0),
                                 (f.walk_l1d_missed >> lane & 1) != 0, walks ? walk_lines(f.cycles_row, lane) : std::vector<LineNumber>()});
            }
            std::vector<AccessOutcome> accesses;
            for (size_t i = 0; i < access_counts_[e]; ++i, ++next) accesses.push_back(of_lane(next, prefetch, lane));
            core.execute(blocks[block_ids_[e]], pages, accesses, redirected[e]);
        }
    }

private:
    uint64_t mask(unsigned rarity) { return sparse_mask(random_, rarity) & lanes_; }

    uint32_t walk_row(uint64_t walks) { return walk_row(walks, shape_.longest_walk_cycles, 3); }
    /// What the bounds of an access leave to its second walk: 2^19 cycles of both, five loads of both.
    uint32_t second_walk_row(uint64_t walks) {
        return walk_row(walks, std::min(shape_.longest_walk_cycles, (1u << 19) - 1 - shape_.longest_walk_cycles), 2);
    }
    uint32_t walk_row(uint64_t walks, uint32_t most_cycles, uint64_t most_loads) {
        for (unsigned lane = 0; lane < max_lanes; ++lane)
            rows_.push_back(walks >> lane & 1 ? uint32_t(below(random_, most_cycles + 1)) : 0);
        const uint32_t row = uint32_t(rows_.size() / max_lanes - 1);
        for (size_t loads = shape_.walk_loads ? below(random_, most_loads + 1) : 0; loads > 0; --loads)
            walk_loads_.push_back({row, below(random_, 2) ? below(random_, 4096) : below(random_, uint64_t{1} << 46), walks & mask(1)});
        return row;
    }

    std::vector<LineNumber> walk_lines(uint32_t row, unsigned lane) const {
        std::vector<LineNumber> lines;
        for (const WalkLoad& load : walk_loads_)
            if (load.cycles_row == row && load.lanes >> lane & 1) lines.push_back(LineNumber(load.line));
        return lines;
    }

    void fetch(uint32_t execution) {
        const uint64_t walks = mask(1);
        fetches_.push_back({execution, walks ? walk_row(walks) : 0, walks, walks & mask(1)});
    }

    void access() {
        const size_t i = addresses_.size();
        // A few pages and lines that meet in the same in-flight slots, and some that come once.
        const uint64_t page = below(random_, 4) ? below(random_, 3) * 64 + below(random_, 3) : below(random_, uint64_t{1} << 30);
        addresses_.push_back(page << 12 | below(random_, 3) << 6 | below(random_, 64));
        stores_.push_back(below(random_, 3) == 0);
        physical_.push_back(below(random_, 2) ? below(random_, 4096) : below(random_, uint64_t{1} << 46));
        Outcomes& o = *outcomes_;
        const bool quiet = below(random_, 3) == 0;
        o.looked_up[i] = quiet ? 0 : mask(shape_.miss_rarity);
        o.walks[i] = o.looked_up[i] & mask(1);
        o.walk_l1d_missed[i] = o.walks[i] & mask(1);
        o.cycles_row[i] = o.walks[i] ? walk_row(o.walks[i]) : 0;
        o.l1d_missed[i] = below(random_, 3) == 0 ? 0 : mask(shape_.miss_rarity);
        o.l2_missed[i] = o.l1d_missed[i] & mask(1);
        o.l3_missed[i] = o.l2_missed[i] & mask(below(random_, 4) == 0 ? 4 : 1);
        if (below(random_, 6) == 0) {
            const uint64_t looked_up = mask(shape_.miss_rarity), walks = looked_up & mask(1);
            crossings_.push_back({uint32_t(i), walks ? second_walk_row(walks) : 0, looked_up, walks, walks & mask(1), {}});
        }
        for (const bool to_l1d : {true, false}) {
            if (!(to_l1d ? shape_.l1d_prefetches : shape_.l2_prefetches) || below(random_, 2)) continue;
            for (size_t degree = 1 + below(random_, 3); degree > 0; --degree) prefetch(uint32_t(i), page << 6 | below(random_, 4), to_l1d);
        }
    }

    void prefetch(uint32_t access, uint64_t line, bool to_l1d) {
        const uint64_t l1d = to_l1d ? mask(1) : lanes_, l2 = l1d & mask(1);
        prefetches_.push_back({access, to_l1d, line, l1d, l2, l2 & mask(1)});
    }

    uint32_t cycles(uint32_t row, unsigned lane) const { return rows_[size_t{row} * max_lanes + lane]; }

    static MemoryLevel level(uint64_t l1d, uint64_t l2, uint64_t l3, unsigned lane) {
        return static_cast<MemoryLevel>((l1d >> lane & 1) + (l2 >> lane & 1) + (l3 >> lane & 1));
    }

    SecondOutcome second_of(const CrossingOutcome& c, VirtAddr first, unsigned lane) const {
        SecondOutcome second;
        second.address = next_4kb_page(first);
        const bool walks = c.walks >> lane & 1;
        second.translation = walks ? Translation::miss : c.looked_up >> lane & 1 ? Translation::stlb_hit : Translation::l1_hit;
        if (walks) second.walk = Cycles(cycles(c.cycles_row, lane)), second.walk_lines = walk_lines(c.cycles_row, lane);
        second.walk_missed_l1d = c.walk_l1d_missed >> lane & 1;
        return second;
    }

    AccessOutcome of_lane(size_t i, size_t& prefetch, unsigned lane) const {
        const Outcomes& o = *outcomes_;
        AccessOutcome a;
        a.address = VirtAddr(addresses_[i]);
        a.is_store = stores_[i];
        a.physical = PhysAddr(shape_.physical_lines ? physical_[i] << 6 : addresses_[i]);
        const bool walks = o.walks[i] >> lane & 1;
        a.translation = walks ? Translation::miss : o.looked_up[i] >> lane & 1 ? Translation::stlb_hit : Translation::l1_hit;
        if (walks) a.walk = Cycles(cycles(o.cycles_row[i], lane)), a.walk_lines = walk_lines(o.cycles_row[i], lane);
        a.walk_missed_l1d = o.walk_l1d_missed[i] >> lane & 1;
        a.level = level(o.l1d_missed[i], o.l2_missed[i], o.l3_missed[i], lane);
        for (const CrossingOutcome& c : crossings_)
            if (c.access == i) a.second = second_of(c, a.address, lane);
        for (; prefetch < prefetches_.size() && prefetches_[prefetch].access == i; ++prefetch) {
            const PrefetchOutcome& p = prefetches_[prefetch];
            const uint64_t physical = (a.physical.value >> 6) + p.line - (a.address.value >> 6);
            a.prefetches.push_back(
                {VirtAddr(p.line << 6), PhysAddr(physical << 6), p.into_l1d != 0, level(p.l1d_missed, p.l2_missed, p.l3_missed, lane)});
        }
        return a;
    }

    Random& random_;
    OutcomeShape shape_;
    uint64_t lanes_;
    std::unique_ptr<Outcomes> outcomes_ = std::make_unique<Outcomes>();
    std::vector<uint64_t> addresses_, physical_;
    std::vector<uint8_t> stores_;
    std::vector<uint32_t> block_ids_, rows_;
    std::vector<uint16_t> access_counts_;
    std::vector<PrefetchOutcome> prefetches_;
    std::vector<FetchOutcome> fetches_;
    std::vector<CrossingOutcome> crossings_;
    std::vector<WalkLoad> walk_loads_;
};

}  // namespace tessera::sim::testing
