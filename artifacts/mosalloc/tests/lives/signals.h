// signals.h - handlers that map memory and allocate, and the timer that calls one each millisecond.
#pragma once

#include "life.h"

namespace lives {

/// Must run once, before any timer.
void set_handlers();
/// A timer of the calling thread. Children and new threads have none of their own.
void start_timer();
/// How often a handler found something wrong: memory that is not zero, or a call that failed.
uint64_t handler_faults();

}  // namespace lives
