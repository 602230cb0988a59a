// counters.h - counters of the imitated kernel, named as in /proc/vmstat where it has them. A log has them behind its areas.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::os {

class Machine;

/// Names in the order of their numbers in the log; new ones go to the end.
const std::vector<std::string> &counter_names();

/// Values in the same order; counts less those of `before`, if it is not empty.
std::vector<uint64_t> counters_of(const Machine &machine, uint64_t faults, const std::vector<uint64_t> &before = {});

}  // namespace tessera::os
