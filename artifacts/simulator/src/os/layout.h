// layout.h - a layout: the windows of the two pools that have large pages.
//
// tessera/layout_file/reader.h parses the file, here and in the allocator. In the simulator, windows must also lie in the
// pools of the trace. Windows of 4KB pages are checked and then dropped, because pages outside windows are 4KB anyway.
#pragma once

#include <memory>
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

struct Mapping;  // os/mapping.h

struct Layout {
    std::string name;             ///< the file's stem
    std::vector<Window> windows;  ///< sorted by pool and offset, disjoint, large pages only
    std::shared_ptr<const Mapping> mapping = nullptr;  ///< in the place of windows: pages with frames
};

/// Throws Refusal naming file, line, column, value and rule.
Layout parse_layout(const std::string& text, const std::string& path, const std::vector<trace::Pool>& pools);
Layout read_layout(const std::string& path, const std::vector<trace::Pool>& pools);

std::string layout_name(const std::string& path);

}  // namespace tessera::sim
