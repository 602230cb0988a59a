// run.h - one trace under one scenario: the stream in program order, its events, and the log.
#pragma once

#include <functional>
#include <string>

#include "driver/kernel.h"

namespace tessera::os {

struct RunResult {
    Kernel::Counts counts;
    uint64_t blocks = 0, accesses = 0, instructions = 0, records = 0;
    uint64_t free_frames_before = 0, free_frames_after = 0;
    uint64_t swap_ins = 0, swap_outs = 0;  ///< pages
};

/// Reads the whole trace and writes the log. Throws Refusal, LogError or trace::TraceError; then no log is left.
/// `progress` gets the accesses done so far, after each frame of the trace.
RunResult run(const std::string &trace, const Scenario &scenario, const std::string &log,
              const std::function<void(uint64_t done, uint64_t all)> &progress = {});

}  // namespace tessera::os
