// timers.h - what the kernel does beside the program, by time: khugepaged after each scan_sleep_milliseconds, per-CPU lists and counters each
// second, kcompactd's look at fragmentation each half second. Time is the number of instructions (scenario.h).
#pragma once

#include "driver/recorder.h"

namespace tessera::os {

/// kswapd, if it was woken, then kcompactd, if kswapd wakes it; what they do stands at `at`.
void run_kswapd(Machine &machine, Recorder &recorder, At at);

class Timers {
public:
    Timers(const Scenario &scenario, Machine &machine, Recorder &recorder);
    /// Instructions.
    uint64_t next() const { return next_; }
    /// The work that is due.
    void run(At at, uint64_t instructions);

private:
    struct Timer {
        uint64_t period = 0, next = 0;  ///< instructions; period 0: never
        void start(uint64_t instructions) { period = next = std::max<uint64_t>(1, instructions); }
    };
    Machine &machine_;
    Recorder &recorder_;
    Timer scan_, refresh_, compaction_;
    uint64_t next_ = 0;
};

}  // namespace tessera::os
