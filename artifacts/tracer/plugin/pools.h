// SPDX-License-Identifier: GPL-2.0-only
// pools.h - converts libmosalloc's pool map into the pools of a trace.
#pragma once

#include <string>
#include <vector>

#include "tessera/trace/trace.h"

namespace tessera::tracer {

/// Throws Error when the map cannot be read or libmosalloc refused to start.
std::vector<trace::Pool> read_pools(const std::string& pool_map_path);

}  // namespace tessera::tracer
