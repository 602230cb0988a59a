// clock_script.h - block executions written out by hand, run through the reference core and the clock's lanes alike.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "branch/redirects.h"
#include "engine/reference_core.h"
#include "engine/timing/clock.h"

namespace tessera::sim::testing {

/// A processor with round numbers and nothing optional switched on.
inline Platform round_numbers() {
    Platform p;
    p.dispatch_width = 4, p.rob_entries = 100, p.load_queue_entries = 50, p.store_buffer_entries = 20, p.mshrs = 16;
    p.latency = {1, 3, 100, 3, 5, 20};
    p.stlb_hit_cycles = 7, p.walkers = 1;
    p.l1d.load_cycles = 4, p.l2.load_cycles = 12, p.l3.load_cycles = 40, p.memory_load_cycles = 200;
    return p;
}

class ClockScript {
public:
    ClockScript(const Platform& platform, std::vector<trace::StaticBlock> blocks)
        : platform_(platform),
          blocks_(std::move(blocks)),
          redirects_(platform_, blocks_),
          core_(platform_),
          clock_(make_clock(platform_, blocks_, 1, "baseline")) {
        clock_->begin_unit();
    }

    /// One execution of blocks[block], in a chunk of its own.
    void run(uint32_t block, const std::vector<AccessOutcome>& accesses = {}, const std::vector<FetchRequest>& fetches = {}) {
        core_.execute(blocks_[block], fetches, accesses, redirects_.enter(block));
        const auto o = std::make_unique<Outcomes>();
        std::vector<std::array<uint32_t, max_lanes>> rows;
        const auto row_of = [&](Cycles walk) {
            rows.push_back({uint32_t(walk.value)});
            return uint32_t(rows.size() - 1);
        };
        std::vector<uint64_t> addresses, lines;
        std::vector<uint8_t> stores;
        std::vector<PrefetchOutcome> prefetches;
        std::vector<WalkLoad> walk_loads;
        std::vector<FetchOutcome> pages;
        std::vector<CrossingOutcome> crossings;
        const auto loads_of = [&](const std::vector<LineNumber>& lines) {
            for (const LineNumber line : lines) walk_loads.push_back({uint32_t(rows.size() - 1), line.value, 1});
        };
        for (const FetchRequest& f : fetches) {
            pages.push_back({0, row_of(f.walk), f.translation == Translation::miss, f.walk_missed_l1d});
            loads_of(f.walk_lines);
        }
        for (size_t i = 0; i < accesses.size(); ++i) {
            const AccessOutcome& a = accesses[i];
            addresses.push_back(a.address.value);
            lines.push_back(a.physical.value >> line_shift);
            stores.push_back(a.is_store);
            o->looked_up[i] = a.translation != Translation::l1_hit;
            o->walks[i] = a.translation == Translation::miss;
            o->walk_l1d_missed[i] = a.walk_missed_l1d;
            o->cycles_row[i] = row_of(a.walk);
            loads_of(a.walk_lines);
            if (a.second) {
                const bool walks = a.second->translation == Translation::miss;
                crossings.push_back({uint32_t(i),
                                     row_of(a.second->walk),
                                     a.second->translation != Translation::l1_hit,
                                     walks,
                                     a.second->walk_missed_l1d,
                                     {}});
                loads_of(a.second->walk_lines);
            }
            o->l1d_missed[i] = a.level >= MemoryLevel::l2, o->l2_missed[i] = a.level >= MemoryLevel::l3;
            o->l3_missed[i] = a.level >= MemoryLevel::dram;
            for (const PrefetchRequest& p : a.prefetches)
                prefetches.push_back({uint32_t(i), p.into_l1d, p.address.value >> line_shift, !p.into_l1d || p.level >= MemoryLevel::l2,
                                      p.level >= MemoryLevel::l3, p.level >= MemoryLevel::dram});
        }
        o->accesses = accesses.size();
        o->cycles_rows = rows.size();
        o->walk_cycles = reinterpret_cast<uint32_t (*)[max_lanes]>(rows.data());
        o->prefetches = prefetches.size(), o->prefetch = prefetches.data();
        o->fetches = pages.size(), o->fetch = pages.data();
        o->walk_loads = walk_loads.size(), o->walk_load = walk_loads.data();
        o->crossings = crossings.size(), o->crossing = crossings.data();
        o->physical_line = lines.data();
        const uint16_t count = uint16_t(accesses.size());
        clock_->run({accesses.size(), addresses.data(), stores.data(), 1, &block, &count}, *o);
    }

    /// One execution without accesses in a warm part.
    void warm(uint32_t block) {
        redirects_.enter(block);
        const uint16_t none = 0;
        clock_->warm({0, nullptr, nullptr, 1, &block, &none});
    }

    /// A part of TLBs only.
    void skip() {
        redirects_.forget();
        clock_->skip();
    }

    void begin_unit() {
        redirects_.forget();
        core_ = ReferenceCore(platform_);
        clock_->begin_unit();
    }

    /// Both engines' runtime, which must be one.
    uint64_t cycles() const {
        uint64_t lanes[max_lanes];
        clock_->elapsed(lanes);
        EXPECT_EQ(lanes[0], core_.elapsed().value) << "lanes and reference core differ";
        return core_.elapsed().value;
    }

private:
    Platform platform_;
    std::vector<trace::StaticBlock> blocks_;
    Redirects redirects_;
    ReferenceCore core_;
    std::unique_ptr<Clock> clock_;
};

}  // namespace tessera::sim::testing
