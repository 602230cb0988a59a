// check.h - the invariants of struct phys, checked one by one: for tests, and for snapshots that come from outside.
#pragma once

#include "phys/phys.h"

/// NULL if all hold, else the first one that does not. Needs 1 bit for each frame. "out of memory" if that is not there.
const char *phys_check(const struct phys *p);
