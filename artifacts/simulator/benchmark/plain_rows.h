// plain_rows.h - the H, M engine beside the plain form of layouts as lanes (plain_lanes.h), in each instruction set.
#pragma once

#include <cstddef>

#include "report.h"

namespace tessera::sim::benchmark {

/// A row for each instruction set, stream and second level: Haswell's, and one of half the size and ways, which is a reading of figures that
/// others give without a geometry. Speeds are those of the shortest of `runs`. False when H or M differ in some layout.
/// pre: layouts <= plain_lanes_most, or nothing is done.
bool plain_rows(Report& report, size_t accesses, size_t layouts, size_t runs);

}  // namespace tessera::sim::benchmark
