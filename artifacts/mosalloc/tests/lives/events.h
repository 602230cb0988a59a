// events.h - the events of a life, one function each; events.cpp has the table with their weights.
//
// Contract: an event holds Maps (maps.h) only while it maps memory itself, logs all results that a program can see, and
// leaves no hole in any area.
#pragma once

#include "life.h"

namespace lives {

void event_fork(Self& s);         // forks.cpp
void event_fork_beside(Self& s);
void event_program(Self& s);      // programs.cpp
void event_raw_clone(Self& s);    // clones.cpp
void event_tasks(Self& s);        // tasks.cpp
void event_pin(Self& s);          // pins.cpp
void event_direct(Self& s);       // direct.cpp
void event_aio(Self& s);
void event_coroutine(Self& s);    // stacks.cpp
void event_own_stack(Self& s);
void event_policy(Self& s);       // marks.cpp
void event_registration(Self& s);
void event_name(Self& s);
void event_refusal(Self& s);      // refusals.cpp
void event_signal(Self& s);       // signals.cpp

/// Waits for the child that runs beside this thread, if there is one. forks.cpp
void end_beside(Self& s);

/// Checks the pinned memory, also in a child. pins.cpp
void check_pinned(Self& s);

}  // namespace lives
