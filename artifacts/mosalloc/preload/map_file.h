// map_file.h - the pool map: counters in a file, which survive _exit and SIGKILL (these run no destructor).
#pragma once

#include "mosalloc/pool_map.h"

#include "core/base.h"

namespace mosalloc {

/// The map in the file `path`, or in private memory without one, or if a living process other than this one owns
/// the file (a child of the target that is the target's executable too). Null with `message` filled on failure.
mosalloc_pool_map* open_map(const char* path, char* message, size_t capacity);

/// A private copy, for a forked child.
mosalloc_pool_map* private_copy(const mosalloc_pool_map* map);

/// State 2 and the reason. `map` may be null.
void mark_refused(mosalloc_pool_map* map, const char* reason);

/// For MOSALLOC_STARTERS: the first process that claims the map gets the layout, and keeps it through exec.
enum class Claim { free, taken };
Claim claim_map(const char* path);

/// A process that is not the target: adds it to the counts of the map.
void count_other_program(const char* path, const char* program);

}  // namespace mosalloc
