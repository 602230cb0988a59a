// any_design.h - the conventional design under a name that the lanes do not know, so that it runs on engine/scalar: the
// speed of a new design that does as much as the conventional one. With identity frames, H, M and C are the lanes'.
#pragma once

#include "model_features.h"

namespace tessera::sim::benchmark {

inline constexpr const char* any_design_name = "benchmark-conventional";

inline void any_design(Platform& p) { p.mmu_design = any_design_name; }

/// Rows of the scalar path: all of them count accesses, also R.
inline constexpr struct {
    Feature feature;
    const char* engine;
} scalar_rows[] = {
    {{"scalar path: H,M,C", any_design}, "partial"},
    {{"scalar path: R", any_design}, "timing"},
    {{"scalar path: H,M,C, scattered", [](Platform& p) { any_design(p), p.allocator = "scattered"; }}, "partial"},
    {{"scalar path: R, DRAM rows", [](Platform& p) { any_design(p), dram_rows(p); }}, "timing"},
    {{"scalar path: R, DRAM rows, scattered", [](Platform& p) { any_design(p), dram_rows(p), p.allocator = "scattered"; }}, "timing"},
    {{"scalar path: R, everything, scattered", [](Platform& p) { any_design(p), everything(p), p.allocator = "scattered"; }}, "timing"},
};

}  // namespace tessera::sim::benchmark
