// shared_rows.h - twenty designs in one run against the same designs alone, on the same engine, mapping and stream.
//
// Seven designs and thirteen anchor distances. Rows "alone": the floor is the designs one after the other, so the ratio says how many
// runs one run replaces. Rows "one": the floor is thp alone; a ratio of 0.25 says that twenty designs take four times as long as it.
#pragma once

#include "report.h"

namespace tessera::sim::benchmark {

/// Rows of H, M (plan tlbs) and of H, M, C. False when counts differ.
bool shared_rows(Report& report, size_t accesses, size_t runs);

}  // namespace tessera::sim::benchmark
