// opening.h - the events of one program: opened in its process before exec, read by the launcher.
//
// The program's process opens them on itself, so the launcher is never counted, and threads and forked children are
// (inherit). The launcher gets the same descriptors through a socket, because the program may close its own.
#pragma once

#include <vector>

#include "counters/events.h"
#include "tessera/common/problem.h"

namespace tessera::counters {

/// In the program's process. Opens all events, puts those that are enabled and disabled at `first`, `first` + 1, ..., and
/// sends them all, or the error, through `socket`. Members of the group follow their leader, and are only sent.
///
/// `at_exec`: they count from exec on; otherwise they wait until they are enabled.
bool open_and_send(const std::vector<Event>& events, bool at_exec, int first, int socket);

/// In the launcher: the descriptors in the order of `events`.
Problem receive(const std::vector<Event>& events, int socket, std::vector<int>* descriptors);

/// How many events are enabled and disabled: those that count alone, and one leader.
int controlled(const std::vector<Event>& events);

}  // namespace tessera::counters
