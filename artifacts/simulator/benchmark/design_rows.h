// design_rows.h - every translation design against the conventional one (noop), on the same engine, mapping and stream.
//
// One mapping of medium contiguity: chunks of 1 to 512 pages, aligned pieces of 512 pages are 2MB pages. A row's floor is noop. A
// ratio of 0.67 says that the design takes 1.5 times as long for an access.
#pragma once

#include "report.h"

namespace tessera::sim::benchmark {

/// Rows of H, M, C and of R for each design. False when a design fails.
bool design_rows(Report& report, size_t accesses, size_t runs);

}  // namespace tessera::sim::benchmark
