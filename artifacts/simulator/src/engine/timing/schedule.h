// schedule.h - makes batches: the accesses of each instruction, and the places of their times.
//
// A batch is the same in every layout, so plain code makes it once per chunk. In-flight tables are direct mapped by virtual
// page and line: this class holds their keys, the lanes hold their times.
#pragma once

#include <array>
#include <vector>

#include "engine/functional.h"
#include "engine/store_words.h"
#include "engine/string_hold.h"
#include "engine/timing/program_table.h"
#include "engine/timing/redirect_log.h"
#include "engine/unwritten_lines.h"

namespace tessera::sim::timing {

/// The keys of one in-flight table.
class InFlightKeys {
public:
    InFlightKeys() { clear(); }
    /// True when `what` is new in its slot, which now holds it.
    bool claim(uint64_t what) {
        uint64_t& key = keys_[what % in_flight_slots];
        const bool is_new = key != what;
        key = what;
        return is_new;
    }
    /// Its slot, or in_flight_slots when it is in none.
    uint8_t find(uint64_t what) const {
        return keys_[what % in_flight_slots] == what ? uint8_t(what % in_flight_slots) : uint8_t(in_flight_slots);
    }
    void clear() { keys_.fill(~uint64_t{0}); }

private:
    std::array<uint64_t, in_flight_slots> keys_;
};

class Schedule {
public:
    /// shared: of clocks that read each frame one after the other; null: the schedule has its own.
    Schedule(const Platform& platform, const std::vector<trace::StaticBlock>& blocks, uint32_t steps_between_rebases, RedirectLog* shared);
    void begin_unit();
    /// Predictors learn the chunk's branches.
    void warm(const Chunk& chunk);
    /// The block that is executed next does not follow the last one.
    void skip() { redirects_->forget(); }
    /// Valid until the next call.
    Batch make(const Chunk& chunk, const Outcomes& outcomes);

private:
    const uint8_t* redirects_of(const Chunk& chunk);
    void refer(const Chunk& chunk, const Outcomes& outcomes);
    void access(Reference& r, uint64_t address, bool is_store, uint64_t physical_line, bool from_memory);
    Reference prefetch(const PrefetchOutcome& outcome, uint64_t physical_line);
    LinePlace locate(uint64_t physical_line) const;
    void write_back(Reference& access, uint64_t physical_line, uint64_t from_memory);
    void place_walk_loads(const Outcomes& outcomes);
    void match_stores(const Chunk& chunk);
    void hold_longer(size_t first_step);
    void usual_execution(const Block& block);
    void execution(const Block& block, uint32_t accesses);
    void step(uint32_t op, uint32_t accesses);

    Dram dram_;
    ProgramTable program_;
    std::unique_ptr<RedirectLog> own_redirects_;
    RedirectLog* redirects_;
    StoreWords store_words_;
    StringHold string_hold_;
    bool uneven_strings_;  ///< page_cycles are no multiple of its lines
    bool forwards_;
    uint32_t steps_between_rebases_, since_rebase_ = 0;
    InFlightKeys pages_, lines_, lines_to_l2_;
    std::vector<Step> steps_;
    std::vector<Reference> accesses_, prefetches_;
    std::vector<SecondReference> seconds_;
    std::vector<uint32_t> first_walk_load_;
    std::vector<PlacedLine> walk_loads_, write_backs_;
    bool writes_back_;
    UnwrittenLines unwritten_;
};

}  // namespace tessera::sim::timing
