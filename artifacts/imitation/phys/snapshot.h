// snapshot.h - the whole state as text: an exact start, for example that of a kernel that has booted.
//
// The format is lines of base/lines.h in this order; `...` is a list of frames, up to 32 on a line, and a longer list goes on in the
// next line with the same key. All numbers are decimal, all counts are frames (or pageblocks, blocks) as named.
//
//   tessera-phys 1
//   cpus N
//   min_free_kbytes N
//   boost_factor N
//   ram FIRST COUNT                  one or more; frames, ascending, disjoint and not adjacent
//   reserved FIRST COUNT             inside RAM, not managed by the allocator
//   pageblocks TYPE FIRST COUNT      runs of pageblocks that are not Movable; ascending; adjacent runs differ in type
//   zone NAME min N low N high N boost N reserve N N N free N reserved_highatomic N flags F
//                                    every populated zone; F: - or some of below_high,boosted,reclaim in this order
//   free NAME ORDER TYPE ...         a free list from its head to its tail
//   cpu NAME CPU high N high_min N high_max N batch N free_count N alloc_factor N flags F drift N threshold N
//                                    every CPU of every populated zone; F: - or some of freed_high,keeps_batch
//   percpu NAME CPU ORDER TYPE ...   a per-CPU list from its head to its tail; order 9: Movable, or Unmovable for all others
//   used ORDER FIRST COUNT           runs of COUNT blocks in use whose order is known
//   lru FIRST COUNT                  runs of frames on LRU lists
//   end
//
// Frames of RAM that no line names are in use, with an unknown order. What follows from other lines is not written: spans, managed
// and present frames, blocks of an order, frames on per-CPU lists.
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "phys/phys.h"

/// Writes the state. False if the stream reports an error.
bool snapshot_write(const struct phys *p, FILE *out);

/// Reads a state; `name` is for messages. Memory above `most_frames` is refused. On success every invariant of check.h holds, and
/// nobody is told (p->events). On failure `p` owns nothing.
bool snapshot_read(struct phys *p, const char *text, size_t bytes, const char *name, uint32_t most_frames, struct error *error);
