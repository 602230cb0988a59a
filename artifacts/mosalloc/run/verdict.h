// verdict.h - from the program's last moment to the exit status.
#pragma once

#include "run/report.h"

namespace mosalloc::run {

/// Looks at `pid` in its last moment; only the process that owns the pools counts.
void inspect(int pid, const mosalloc_pool_map& map, Outcome* outcome);
/// Fills verdict and reason.
void judge(const Options& options, const mosalloc_pool_map& map, Outcome* outcome);
/// Says on stderr what is wrong, if anything is.
int status_of(const Options& options, const mosalloc_pool_map& map, const Outcome& outcome);

}  // namespace mosalloc::run
