// tracee.h - starts the program and inspects its memory just before the kernel frees it.
//
// PTRACE_SEIZE with PTRACE_O_TRACEEXIT stops a task inside exit, while its address space is still complete, after exit,
// _exit and fatal signals. Only the main thread is traced, so only the delivery of signals becomes slower. SIGKILL may
// come before the stop; then the page sizes stay unchecked, and the report says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mosalloc::run {

struct Ending {
    int wait_status = 0;
    std::string error;  ///< not empty: the program could not be started or traced
};

/// `tick` is called every `interval_ms` while the program runs; 0: never.
struct Ticks {
    unsigned interval_ms = 0;
    std::function<void()> tick;
};

/// Runs `arguments` with `environment` and calls `at_exit(pid)` for each traced process that exits. With
/// `follow_children` the processes that it starts are traced too (each of their threads stops once, at its end).
Ending run_traced(const std::string& path, const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment, bool follow_children,
                  const std::function<void(int)>& at_exit, const Ticks& ticks = {});

}  // namespace mosalloc::run
