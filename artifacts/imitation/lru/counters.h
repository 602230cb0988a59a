// counters.h - start of the counters of the LRU lists; lru.h has what they are.
#pragma once

#include "lru/lru.h"

/// All counters are exact; lru->phys is set.
void lru_counters_create(struct lru *lru);
