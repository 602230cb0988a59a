// model_features.h - features of the clock that the floor's model lacks: one benchmark row for each, and one with all.
//
// The floor of every row but the last is floor_r, the plain model: a ratio says what the engine does with the feature against a
// loop without it. The floor of the row with all of them is floor_everything, which has all of them, too. The streams have no
// stores, returns or string instructions: rows of these say what looking for them costs.
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
inline void branches(Platform& p) {
    p.branch_predictor = "tage", p.branch_refill_cycles = 15;
    p.return_stack_entries = 16, p.target_entries = 4096;
}
inline void ports(Platform& p) { p.ports = {2, 1, 4}; }
inline void forwarding(Platform& p) { p.store_forward_cycles = 5; }
inline void early_registers(Platform& p) { p.early_registers = 1; }
inline void strings(Platform& p) { p.string = {35, 128}; }
inline void slices(Platform& p) { p.l3_slices = 12; }
inline void write_backs(Platform& p) { p.write_backs = 1; }
inline void queued_walks(Platform& p) { dram_rows(p), p.dram_queues_walks = 1; }
inline void everything(Platform& p) {
    for (const auto enable : {walker_mshrs, instruction_side, stride, stream, branches, ports, forwarding, early_registers, strings, slices,
                              write_backs, queued_walks})
        enable(p);
}

inline constexpr Feature features[] = {
    {"R", [](Platform&) {}},         {"R, walker MSHRs", walker_mshrs},
    {"R, ITLB", instruction_side},   {"R, stride", stride},
    {"R, stream", stream},           {"R, DRAM rows", dram_rows},
    {"R, branches", branches},       {"R, ports", ports},
    {"R, forwarding", forwarding},   {"R, early registers", early_registers},
    {"R, strings", strings},         {"R, slices of L3", slices},
    {"R, write-backs", write_backs}, {"R, walks in DRAM queues", queued_walks},
    {"R, everything", everything},
};

}  // namespace tessera::sim::benchmark
