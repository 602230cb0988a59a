// layout.h - a mosaic: which windows of the two pools have large pages.
//
// File: CSV `type,pageSize,startOffset,endOffset`, offsets in bytes from the pool's base, end exclusive; a row
// with pageSize -1 gives a pool's size. Everything outside the windows has 4KB pages.
#pragma once

#include <string>
#include <vector>

#include "base/types.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

struct Window {
    trace::PoolKind pool;
    PageSize page_size;
    uint64_t begin, end;  ///< pool offsets
    size_t line;          ///< of the file, for messages
};

struct Layout {
    std::string name;             ///< the file's stem
    std::vector<Window> windows;  ///< sorted by pool and offset, disjoint
};

const char* pool_name(trace::PoolKind kind);

/// Throws Refusal naming file, line, column, rule and value.
Layout parse_layout(const std::string& text, const std::string& path, const std::vector<trace::Pool>& pools);
Layout read_layout(const std::string& path, const std::vector<trace::Pool>& pools);

std::string layout_name(const std::string& path);

}  // namespace tessera::sim
