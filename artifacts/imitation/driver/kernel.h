// kernel.h - the imitated kernel of one run, and its log.
//
// Order of decisions: that of the program. Timers are due at the begin of a block (timers.h). kswapd, and kcompactd behind it, work after the access
// whose fault woke them. A request that finds no memory compacts and reclaims at once (vm/slow_path.h); without any way out the run ends: out of memory.
#pragma once

#include "driver/calls.h"
#include "driver/timers.h"

namespace tessera::os {

struct Kernel {
    Kernel(const Scenario &scenario, Machine &machine, const Places &places, Writer &log)
        : recorder(machine, places, log),
          accesses(scenario, machine, recorder),
          calls(scenario, machine, places, recorder, accesses),
          timers(scenario, machine, recorder) {}

    struct Counts : Recorder::Counts, Calls::Counts {
        uint64_t grown_files = 0;
    };
    Counts counts() const { return {recorder.counts(), calls.counts(), accesses.grown_files()}; }

    Recorder recorder;
    Accesses accesses;
    Calls calls;
    Timers timers;
};

}  // namespace tessera::os
