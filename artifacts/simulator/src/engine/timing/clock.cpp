// clock.cpp - the clock: a schedule in plain code, and the lanes of one instruction set that replay it.
#include "engine/timing/clock.h"

#include <cstdlib>
#include <new>

#include "base/error.h"
#include "base/woven.h"
#include "engine/timing/group.h"
#include "engine/timing/schedule.h"

namespace tessera::sim::timing {

size_t group_memory_bytes(const ClockConfig& c, unsigned lanes) {
    const size_t vectors = 65 + size_t{c.dispatch_width} + c.rob_entries + c.load_queue_entries + 2 * size_t{c.store_buffer_entries} +
                           c.mshrs + c.walkers + c.load_ports + 2 * c.store_ports + c.alu_ports + 2 * idle_intervals + 3 * in_flight_slots +
                           1 + (c.tables_apart ? 2 : 1) * (c.channels + 3 * size_t{c.banks}) + (c.counts_rows ? row_counters : 0);
    return (vectors * lanes * sizeof(uint32_t) + 63) / 64 * 64;
}

namespace {

using MakeGroup = ClockGroup* (*)(const ClockConfig&, unsigned, void*);

MakeGroup maker_of(const std::string& isa, unsigned layouts) {
    if (isa == "one" && layouts != 1)
        throw Refusal("the clock for one layout", std::to_string(layouts) + " layouts", "use avx512, avx2 or baseline");
    if (isa == "one") return make_group_one;
    if (isa == "avx512") return make_group_avx512;
    if (isa == "avx2") return make_group_avx2;
    if (isa == "baseline") return make_group_baseline;
    throw Refusal("an instruction set for the clock", "'" + isa + "'", "use avx512, avx2 or baseline, or one for a single layout");
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

class LaneClock final : public Clock {
public:
    LaneClock(const Platform& platform, const std::vector<trace::StaticBlock>& blocks, unsigned layouts, MakeGroup make,
              RedirectLog* redirects, bool counts_rows)
        : config_(clock_config(platform, program_blocks(blocks) < blocks.size(), counts_rows)),
          schedule_(platform, blocks, config_.steps_between_rebases, redirects) {
        const unsigned parts = (layouts + part_lanes - 1) / part_lanes;
        const unsigned lanes = make == make_group_one ? 1 : parts * part_lanes;
        memory_.reset(std::aligned_alloc(64, group_memory_bytes(config_, lanes)));
        if (memory_ == nullptr) throw std::bad_alloc();
        group_.reset(make(config_, parts, memory_.get()));
    }

    void begin_unit() override {
        schedule_.begin_unit();
        group_->begin_unit();
    }

    void run(const Chunk& chunk, const Outcomes& outcomes) override {
        if (!group_->run(schedule_.make(chunk, outcomes)))
            throw Refusal("page walks of less than " + std::to_string(walk_bound_cycles) + " cycles, those of one access together",
                          "longer ones", "lower the platform's load times, or the number of loads in a walk of this design");
    }

    void warm(const Chunk& chunk) override { schedule_.warm(chunk); }
    void skip() override { schedule_.skip(); }

    void elapsed(uint64_t cycles[max_lanes]) const override { group_->elapsed(cycles); }
    DramCounts rows(unsigned layout) const override {
        DramCounts counts;
        const uint64_t* const of_lanes = group_->rows();
        if (of_lanes == nullptr) return counts;
        const uint64_t* next = of_lanes + layout * row_counters;
        for (DramRows& rows : counts.of) rows = {next[0], next[1], next[2]}, next += 3;
        return counts;
    }

private:
    ClockConfig config_;
    Schedule schedule_;
    std::unique_ptr<void, Free> memory_;
    std::unique_ptr<ClockGroup> group_;
};

}  // namespace
}  // namespace tessera::sim::timing

namespace tessera::sim {

std::unique_ptr<Clock> make_clock(const Platform& platform, const std::vector<trace::StaticBlock>& blocks, unsigned layouts,
                                  const std::string& isa, timing::RedirectLog* redirects, bool counts_rows) {
    return std::make_unique<timing::LaneClock>(platform, blocks, layouts, timing::maker_of(isa, layouts), redirects, counts_rows);
}

}  // namespace tessera::sim
