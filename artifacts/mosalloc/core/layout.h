// layout.h - a layout as the library uses it: the pools' sizes and the windows of large pages.
//
// tessera/layout_file/reader.h parses the file, here and in the simulator. In the library, a pool without a size row has
// a default size, and sizes are rounded up to whole 4KB pages. Windows of 4KB pages are checked and then dropped, since
// memory outside windows has 4KB pages anyway.
#pragma once

#include "core/base.h"
#include "core/text.h"
#include "mosalloc/pool_map.h"
#include "tessera/layout_file/reader.h"

namespace mosalloc {

using tessera::layout_file::kPoolNames;
using tessera::layout_file::kPools;
using tessera::layout_file::Window;

constexpr bool same(tessera::layout_file::PoolKind in_file, mosalloc_pool_kind in_map) { return int{in_file} == int{in_map}; }
static_assert(same(tessera::layout_file::kHeap, MOSALLOC_POOL_HEAP) && same(tessera::layout_file::kAnon, MOSALLOC_POOL_ANON) &&
                  same(tessera::layout_file::kFile, MOSALLOC_POOL_FILE) && kPools == MOSALLOC_POOL_COUNT + 1,
              "pools of a layout file are pools of the map");
static_assert(tessera::layout_file::kMaxWindows == MOSALLOC_MAX_WINDOWS, "the map has room for every layout");

/// Pool sizes of a layout without size rows. Reserving is free on bare Linux, but not in QEMU's user mode (64GB: 0.2s and
/// 400MB). For this reason a layout can set smaller sizes.
constexpr uint64_t kDefaultPoolBytes[kPools] = {64ull << 30, 256ull << 30, 16ull << 30};

struct Layout : tessera::layout_file::File {
    /// How many pages of one size all windows need.
    uint64_t pages(uint64_t page_bytes) const;
};

/// Fills `out` with windows sorted by pool and offset. On failure `error` names file, line, column, value and
/// rule, and what to do.
bool parse_layout(const char* text, size_t length, const char* name, Layout* out, Text* error);

}  // namespace mosalloc
