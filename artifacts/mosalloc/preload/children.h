// children.h - what forked children count, in the pool map of the program that they were forked from.
//
// A child has a private pool map, which ends with it. _exit and SIGKILL run no destructor, so each call adds what it has
// counted to mosalloc_pool_map::children at once. A child of a child adds to the same block. A child of vfork shares the
// memory of its parent, and is no child here.
#pragma once

#include "mosalloc/pool_map.h"

namespace mosalloc {

/// In a new child: `of_parent` is the map that its parent used, `own` the private copy, up to date.
void start_child(mosalloc_pool_map* of_parent, const mosalloc_pool_map* own);
/// After each call; does nothing outside children.
void add_child_counts();

}  // namespace mosalloc
