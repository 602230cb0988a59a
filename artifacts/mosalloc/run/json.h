// json.h - the parts that the report and the analysis have in common, as JSON.
#pragma once

#include <cstdio>

#include "run/outside.h"

namespace mosalloc::run {

/// Members of an object, each line ended with a comma: "pools" and "file_pool".
void write_pools(FILE* file, const mosalloc_pool_map& map);
/// "calls": per function, the calls served by a pool, by the kernel, and failed. Omits functions without calls.
void write_calls(FILE* file, const mosalloc_pool_map& map);
void write_counters(FILE* file, const mosalloc_pool_map& map);
void write_children(FILE* file, const mosalloc_children& children);
void write_outside(FILE* file, const Outside& outside);

}  // namespace mosalloc::run
