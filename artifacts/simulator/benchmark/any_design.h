// any_design.h - the conventional design under a name that the lanes do not know, so that it runs on engine/any_design: the
// speed of a new design that does as much as the conventional one. With identity frames, H, M and C are the lanes'.
#pragma once

#include "model_features.h"

namespace tessera::sim::benchmark {

inline constexpr const char* any_design_name = "benchmark-conventional";

inline void any_design(Platform& p) { p.mmu_design = any_design_name; }

/// Rows of any design: all of them count accesses, also R.
inline constexpr struct {
    Feature feature;
    const char* engine;
} any_design_rows[] = {
    {{"any design: H,M,C", any_design}, "partial"},
    {{"any design: R", any_design}, "timing"},
    {{"any design: H,M,C, scattered", [](Platform& p) { any_design(p), p.allocator = "scattered"; }}, "partial"},
    {{"any design: R, DRAM rows", [](Platform& p) { any_design(p), dram_rows(p); }}, "timing"},
    {{"any design: R, DRAM rows, scattered", [](Platform& p) { any_design(p), dram_rows(p), p.allocator = "scattered"; }}, "timing"},
    {{"any design: R, everything, scattered", [](Platform& p) { any_design(p), everything(p), p.allocator = "scattered"; }}, "timing"},
};

}  // namespace tessera::sim::benchmark
