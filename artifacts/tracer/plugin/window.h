// SPDX-License-Identifier: GPL-2.0-only
// window.h - windows of a region: which parts are recorded, and counting in between.
//
// Window w begins at the first block at or behind access w * (window_accesses + gap_accesses) of the region and ends before
// the block that would exceed window_accesses. In a gap, a block adds its accesses (access_units.h) and its instructions to
// two counters and compares the first one with the begin of the next window. QEMU's own code adds; only the comparison is a
// call. Behind the last window nothing is compared.
//
// Blocks are counted while they are recorded, too. So positions do not depend on the moment when a gap began, which is known
// some buffers later (Recorder::window_is_full).
#pragma once

#include "region.h"

namespace tessera::tracer {

/// The window is full: count to the begin of the next one, or to the end of the region.
void begin_gap(unsigned vcpu);
/// A block of a gap begins that adds `units`. The next window begins behind it if it reaches that position.
void on_gap_block(unsigned vcpu, void* units);
/// Counts what runs without counting code: the rest of a block behind a begin marker, and a line that the kernel copies.
void count_now(uint64_t units, uint64_t insns);
/// What the trace's header has of windows and counts.
trace::RegionCount region_count(bool stopped);

}  // namespace tessera::tracer
