// report.h - the JSON report of one run: requested page sizes, actual page sizes, counters.
#pragma once

#include <string>

#include "run/options.h"
#include "run/outside.h"
#include "run/smaps.h"

namespace mosalloc::run {

struct Outcome {
    int wait_status = 0;
    bool checked = false;  ///< the page sizes were read before the memory went away
    Findings findings;
    Outside outside;
    std::string removed_tunables;  ///< parts of GLIBC_TUNABLES that would take malloc out of the pools
    std::string verdict;  ///< confirmed, mismatch, fallback (a mismatch that --allow-fallback admits), unchecked
    std::string reason;   ///< empty when confirmed
};

/// False when the file can't be written.
bool write_report(const std::string& file, const Options& options, const mosalloc_pool_map& map, const Outcome& outcome);

}  // namespace mosalloc::run
