// verdict.h - inspects the program before it exits, and derives the verdict and the exit status.
#pragma once

#include "run/report.h"

namespace mosalloc::run {

/// Path of the first program that inherited the library and is not the target; empty if there was none.
std::string other_program(const mosalloc_pool_map& map);
/// Inspects `pid` just before it exits; ignores processes that do not own the pools.
void inspect(int pid, const mosalloc_pool_map& map, Outcome* outcome);
/// The program used parts of a reservation that has no room in the pool, and the layout has windows there.
bool misses_reservations(const mosalloc_pool_map& map);
/// The size row with which the pool has room for all reservations.
std::string row_with_reservations(const mosalloc_pool_map& map);
/// Fills verdict and reason.
void judge(const Options& options, const mosalloc_pool_map& map, Outcome* outcome);
/// The program ran on the pages of the layout, or on others that --allow-fallback admits.
bool right_pages(const Outcome& outcome);
/// Returns the exit status, and prints on stderr what is wrong, if anything.
int status_of(const Options& options, const mosalloc_pool_map& map, const Outcome& outcome);

}  // namespace mosalloc::run
