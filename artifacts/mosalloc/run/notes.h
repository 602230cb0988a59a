// notes.h - what a user should know about a run beside its verdict, on stderr: full pools, memory that nobody saw.
#pragma once

#include "run/report.h"

namespace mosalloc::run {

void print_notes(const mosalloc_pool_map& map, const Outcome& outcome);

}  // namespace mosalloc::run
