// tracee.h - starts the program with its counters, and inspects it just before the kernel frees its memory.
//
// PTRACE_SEIZE with PTRACE_O_TRACEEXIT stops a task inside exit, while its address space is still complete, after exit,
// _exit and fatal signals. Only the main thread is traced, so only the delivery of signals becomes slower. SIGKILL may
// come before the stop; then the page sizes stay unchecked, and the report says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "counters/counting.h"

namespace tessera::counters {

struct Ending {
    int wait_status = 0;
    std::string error;  ///< not empty: the program could not be started or traced
    Problem refused;    ///< not empty: its counters could not be opened, so it was not started
};

/// `tick` is called every `interval_ms` while the program runs; 0: never.
struct Ticks {
    unsigned interval_ms = 0;
    std::function<void()> tick;
};

/// Which processes are traced, apart from the program itself.
enum class Follow {
    none,
    all,      ///< all that it starts (each of their threads stops once, at its end)
    starters  ///< those from the program to the target. The target's children run on their own
};

/// Runs `arguments` with `environment` and calls `at_exit(pid)` for each traced process that exits. `target()` is the pid
/// of the process that has the layout, 0 before it started. `counting`: prepared; null: nothing is counted.
Ending run_traced(const std::string& path, const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                  Follow follow, const std::function<void(int)>& at_exit, const std::function<int()>& target, const Ticks& ticks = {},
                  Counting* counting = nullptr);

}  // namespace tessera::counters
