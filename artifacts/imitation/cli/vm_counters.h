// vm_counters.h - events of counters that lag, and kswapd after an access (tessera-vm).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/lines.h"
#include "vm/system.h"

/// The event `idle [kswapd]` or `flush-counters`; the broken rule, or NULL. *idles: set by `idle kswapd`.
const char *vm_counters_event(struct vm_system *system, const struct line *line, bool *idles);

/// kswapd, if an access woke it. `idles`: then the CPU is idle until kswapd finds a zone balanced after 0.1 s, too. Returns the passes;
/// 0 for a system without a slow path.
uint32_t vm_counters_background(struct vm_system *system, bool idles);
