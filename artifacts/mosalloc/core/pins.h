// pins.h - finds out whether the kernel or a device may write to frames of this process behind its page tables.
//
// Such writes go to the frame that a page had when it was pinned. A huge page whose contents were copied to other frames
// would lose them. Long-term pins are registered buffers (io_uring, RDMA, VFIO), short ones are direct I/O in flight.
#pragma once

#include "core/base.h"

namespace mosalloc {

/// Bits of enum mosalloc_pin (pool_map.h), 0 if nothing can pin. Kinds of long-term pins stay set once they were seen: a
/// ring can outlive its descriptor. `others`: tasks besides the caller's run, so direct I/O may be in flight.
/// Returns -errno if /proc cannot be read. Cost: two system calls for each open descriptor, one read per 4KB of
/// /proc/self/maps.
long what_pins(bool others);
/// A kind of long-term pins was seen elsewhere.
void note_pin(long kind);

}  // namespace mosalloc
