// take.h - one block out of a zone's free lists: own type first, then the two kinds of fallback.
//
// Linux: mm/page_alloc.c: __rmqueue, enum rmqueue_mode. A refill takes many blocks: once its own lists were empty it does not look
// there again until a claim filled them, and after a steal it continues to steal. Left out: CMA.
#pragma once

#include "phys/fallback.h"

enum take_mode { TAKE_OWN, TAKE_STEAL };

/// A block for a request of `type` (one of the first three) with `rights` (enum phys_right); PHYS_NO_FRAME if there is none.
/// `mode` starts as TAKE_OWN, and is kept for the other blocks of a refill.
uint32_t take_block(struct phys *p, struct zone *zone, unsigned order, int type, unsigned rights, enum take_mode *mode);
