// refused.h - the kernel does not open an event: what the error means, and what helps.
#pragma once

#include "counters/events.h"
#include "tessera/common/problem.h"

namespace tessera::counters {

/// `error` is the errno of perf_event_open.
Problem refused(const Event& event, int error);

}  // namespace tessera::counters
