// interrupt.h - Ctrl-C (SIGINT) and SIGTERM stop a run between two frames; finished rows are already written.
//
// The first signal asks; a second one ends the process at once, as signals do by default.
#pragma once

#include <exception>

namespace tessera::sim {

void catch_signals();

/// The signal that asked to end, or 0.
int signal_received();

/// Thrown where work stops because of a signal or because another group failed; never leaves run_command.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped"; }
};

}  // namespace tessera::sim
