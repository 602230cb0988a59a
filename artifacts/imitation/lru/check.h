// check.h - the invariants of the LRU lists, for tests: each page on a list is in use, has the flags of this list and the bit of the frame
// table, and is not isolated; sizes are exact, in all zones; batches hold pages that say so.
#pragma once

#include "lru/lru.h"

/// NULL if all hold, else the first one that does not.
const char *lru_check(const struct lru *lru);
