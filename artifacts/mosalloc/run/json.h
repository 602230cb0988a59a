// json.h - the parts that the report and the analysis have in common, as JSON.
#pragma once

#include <cstdio>
#include <string>

#include "run/outside.h"

namespace mosalloc::run {

std::string quoted(const std::string& text);
/// Members of an object, each line ended with a comma: "pools" and "file_pool".
void write_pools(FILE* file, const mosalloc_pool_map& map);
/// "calls": per function, who answered and how many failed. Functions that were never called are left out.
void write_calls(FILE* file, const mosalloc_pool_map& map);
void write_counters(FILE* file, const mosalloc_pool_map& map);
void write_outside(FILE* file, const Outside& outside);

}  // namespace mosalloc::run
