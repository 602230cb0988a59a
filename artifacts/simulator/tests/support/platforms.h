// platforms.h - the paper's three processors (and tiny ones) as structs, for tests and benchmarks.
//
// Copies of config/platforms/*.yaml for what tests compute by hand; results always come from the files.
#pragma once

#include "base/platform.h"

namespace tessera::sim::testing {

inline Platform sandybridge() {
    Platform p;
    p.frequency_hz = 1'900'000'000;
    p.dispatch_width = 4, p.rob_entries = 168, p.load_queue_entries = 64, p.store_buffer_entries = 36, p.mshrs = 10;
    p.latency = {1, 3, 26, 3, 5, 22};
    p.l1_4kb = {64, 4}, p.l1_2mb = {32, 4}, p.l1_1gb = {4, 4};
    p.stlb = {512, 4}, p.stlb_holds_2mb = 0, p.stlb_hit_cycles = 7;
    p.pwc_pde = {32, 4}, p.pwc_pdpte = {4, 4}, p.pwc_pml4e = {2, 2};
    p.walkers = 1;
    p.l1d = {32 * 1024, 8, 4}, p.l2 = {256 * 1024, 8, 12}, p.l3 = {15 * 1024 * 1024, 20, 30};
    p.memory_load_cycles = 170;
    p.memory_cycles_per_line = 3;
    return p;
}

inline Platform haswell() {
    Platform p = sandybridge();
    p.frequency_hz = 2'100'000'000;
    p.rob_entries = 192, p.load_queue_entries = 72, p.store_buffer_entries = 42;
    p.stlb = {1024, 8}, p.stlb_holds_2mb = 1;
    p.l3 = {30 * 1024 * 1024, 20, 36};
    p.memory_load_cycles = 200;
    return p;
}

inline Platform broadwell() {
    Platform p = haswell();
    p.frequency_hz = 2'200'000'000;
    p.stlb = {1536, 6}, p.stlb_1gb = {16, 4};
    p.walkers = 2;
    p.l3 = {60 * 1024 * 1024, 20, 40};
    p.memory_load_cycles = 220;
    p.memory_cycles_per_line = 2;
    p.latency.fp_multiply = 3, p.latency.fp_divide = 16;
    return p;
}

/// Everything tiny and oddly shaped, so that random traces reach every eviction: sets that are no powers of two
/// in each structure, levels that do not nest, a full set of walk-cache misses.
inline Platform tiny(unsigned variant) {
    Platform p = broadwell();
    p.rob_entries = 12 + variant, p.load_queue_entries = 5, p.store_buffer_entries = 3, p.mshrs = 2 + variant % 3;
    p.l1_4kb = {8, 2}, p.l1_2mb = {4, 2}, p.l1_1gb = {1, 1};
    p.stlb = variant % 3 == 0 ? Geometry{12, 4} : variant % 3 == 1 ? Geometry{18, 6} : Geometry{0, 0};
    p.stlb_holds_2mb = variant % 2;
    p.stlb_1gb = variant % 2 ? Geometry{2, 2} : Geometry{0, 0};
    p.pwc_pde = variant % 4 == 3 ? Geometry{0, 0} : Geometry{6, 2};
    p.pwc_pdpte = variant % 5 == 4 ? Geometry{0, 0} : Geometry{2, 1};
    p.pwc_pml4e = {variant % 2, variant % 2};
    p.walkers = 1 + variant % 2;
    p.l1d = {64 * 8 * 2, 2, 4};
    p.l2 = variant % 2 ? CacheGeometry{64 * 24 * 3, 3, 12} : CacheGeometry{64 * 16 * 1, 1, 12};
    p.l3 = {64 * 36 * 9, 9, 30};
    p.memory_cycles_per_line = variant % 3 * 5;
    return p;
}

}  // namespace tessera::sim::testing
