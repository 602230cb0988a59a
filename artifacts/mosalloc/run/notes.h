// notes.h - prints notes about a run on stderr, besides its verdict: full pools, memory that bypassed the library.
#pragma once

#include "run/report.h"

namespace mosalloc::run {

void print_notes(const Options& options, const mosalloc_pool_map& map, const Outcome& outcome);

}  // namespace mosalloc::run
