// counts.h - what the counters hold at the end, whether that is the whole region, and the file of it.
#pragma once

#include <vector>

#include "counters/events.h"
#include "tessera/common/problem.h"

namespace tessera::counters {

struct Count {
    bool read = false;  ///< false: a pinned event that lost its counter
    uint64_t value = 0, enabled_ns = 0, running_ns = 0;
};

/// Each descriptor is read alone, because older kernels refuse to read a group that is inherited.
std::vector<Count> read_counts(const std::vector<int>& descriptors);

/// Finds the first event that did not count all the time. A count is never scaled. Members of a group start late by a few
/// microseconds, so a gap is accepted up to 10 us or 0.1%, whichever is more.
Problem check_counts(const std::vector<Event>& events, const std::vector<Count>& counts);

/// Finds out before the run whether `path` can be written, and removes an old one.
Problem prepare_file(const std::string& path);

/// Writes `event,value,enabled_ns,running_ns`, one row an event, then `region_ns`; under another name first, so that a file at
/// `path` is always whole.
Problem write_counts(const std::string& path, const std::vector<Event>& events, const std::vector<Count>& counts, uint64_t region_ns);

}  // namespace tessera::counters
