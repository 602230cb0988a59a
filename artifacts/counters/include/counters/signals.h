// signals.h - signals that are sent to the launcher reach the program exactly once.
//
// A terminal, or kill with a negative number, sends a signal to the whole process group, so the program has it already.
// A signal to the launcher alone must be passed on. The kernel does not tell the receiver which of both happened. So a
// second process of the group (the witness) waits for the same signals: what it received was sent to the group. A front
// end that passes on a signal of its group is recognised as well: its copy comes from the launcher's parent.
#pragma once

#include <sys/types.h>

namespace tessera::counters {

/// Delays all such signals until `start_forwarding`. Call it before anything is created that must be removed.
void hold_signals();
/// In the new program's process: undoes `hold_signals`. The program gets the signals that the launcher was started with.
void release_in_child();
/// Starts the witness, and from now on passes signals on to `program`.
void start_forwarding(pid_t program);
/// From now on to another process.
void forward_to(pid_t program);
/// Ends both. Later signals have no effect: the launcher only writes its results.
void stop_forwarding();

}  // namespace tessera::counters
