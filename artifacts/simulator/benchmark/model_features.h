// model_features.h - features of the clock that the floor's model lacks: one benchmark row for each, and one with all.
//
// The floor of every row is floor_r, the plain model: a ratio says what the engine does with the feature against a loop
// without it.
#pragma once

#include "base/platform.h"

namespace tessera::sim::benchmark {

struct Feature {
    const char* name;
    void (*enable)(Platform&);
};

inline void walker_mshrs(Platform& p) { p.walker_uses_mshrs = 1; }
inline void instruction_side(Platform& p) { p.l1i = {128, 4}; }
inline void stride(Platform& p) { p.prefetch_l1d = {"stride", 24, 1, 1}; }
inline void stream(Platform& p) { p.prefetch_l2 = {"stream", 32, 2, 20}; }
/// Four channels of sixteen banks with 8KB rows, DDR3-1600 at 2.1 GHz, as in config/platforms/haswell-sim.yaml.
inline void dram_rows(Platform& p) { p.dram = {4, 16, 8192, 29, 29, 10}; }
inline void slices(Platform& p) { p.l3_slices = 12; }
inline void queued_walks(Platform& p) {
    dram_rows(p);
    p.dram_queues_walks = 1;
}
inline void write_backs(Platform& p) { p.write_backs = 1; }
inline void everything(Platform& p) {
    for (const auto enable : {walker_mshrs, instruction_side, stride, stream, slices, queued_walks, write_backs}) enable(p);
}

inline constexpr Feature features[] = {
    {"R", [](Platform&) {}},
    {"R, walker MSHRs", walker_mshrs},
    {"R, ITLB", instruction_side},
    {"R, stride", stride},
    {"R, stream", stream},
    {"R, DRAM rows", dram_rows},
    {"R, slices of L3", slices},
    {"R, walks in DRAM queues", queued_walks},
    {"R, write-backs", write_backs},
    {"R, everything", everything},
};

}  // namespace tessera::sim::benchmark
