// operations.h - the operations of the test, one function each; operations.cpp has the table with their weights.
//
// Contract: an operation begins its line in the log, makes its calls, logs all results that a program can see, updates
// the model, and leaves no hole in any area.
#pragma once

#include "areas.h"

namespace differential {

void op_map(Thread& t);            // map.cpp
void op_unmap(Thread& t);
void op_trim(Thread& t);
void op_map_fixed(Thread& t);
void op_no_replace(Thread& t);
void op_hint_taken(Thread& t);
void op_write(Thread& t);          // touch.cpp
void op_read(Thread& t);
void op_faults(Thread& t);
void op_protect(Thread& t);        // protect.cpp
void op_advise(Thread& t);
void op_mincore(Thread& t);
void op_msync(Thread& t);
void op_lock(Thread& t);
void op_resize(Thread& t);         // remap.cpp
void op_move_onto(Thread& t);
void op_keep_old(Thread& t);
void op_duplicate(Thread& t);
void op_holes(Thread& t);          // holes.cpp
void op_break(Thread& t);          // heap.cpp
void op_malloc(Thread& t);         // blocks.cpp
void op_memalign(Thread& t);
void op_wrong_map(Thread& t);      // wrong.cpp
void op_wrong_range(Thread& t);
void op_wrong_remap(Thread& t);
void op_wrong_malloc(Thread& t);
void op_fork(Thread& t);           // fork.cpp

/// Any call that takes a range, on a range that may have holes; updates the model of what it did. Used by
/// op_holes and, on whole memory, by protect.cpp.
void call_protect(Thread& t, Span span, int prot);
void call_advise(Thread& t, Span span, int advice);
void call_mincore(Thread& t, Span span);
void call_msync(Thread& t, Span span);
void call_lock(Thread& t, Span span);

/// Runs `count` operations.
void run_operations(Thread& t, uint64_t count);

}  // namespace differential
