// layout.h - a layout file (`type,pageSize,startOffset,endOffset`) read from memory and checked.
//
// The grammar is the one of `tessera layouts check`: offsets are bytes or sizes like 64MB, `brk` is the heap pool,
// `mmap` the anonymous pool, `file` is accepted and has 4KB pages only, pageSize -1 gives a pool's size. Rows
// of 4KB pages are checked and then dropped, since 4KB is what everything outside windows is.
#pragma once

#include "core/base.h"
#include "core/text.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {

constexpr size_t kPools = MOSALLOC_POOL_COUNT + 1;  // with the file pool

/// Pool sizes of a layout without size rows. Reserving costs nothing natively, but QEMU's user mode pays per
/// reserved page (64GB: 0.2s and 400MB), which is why sizes can be given at all.
constexpr uint64_t kDefaultPoolBytes[kPools] = {64ull << 30, 256ull << 30, 16ull << 30};

constexpr const char* kPoolNames[kPools] = {"brk", "mmap", "file"};

struct Window {
    uint64_t pool = 0;
    uint64_t page_bytes = 0;
    Range range;
    uint64_t line = 0;
};

struct Layout {
    uint64_t pool_bytes[kPools] = {};
    bool pool_given[kPools] = {};
    size_t window_count = 0;
    Window windows[MOSALLOC_MAX_WINDOWS];

    /// How many pages of one size all windows need.
    uint64_t pages(uint64_t page_bytes) const;
};

/// Fills `out` with windows sorted by pool and offset. On failure `error` names file, line, column, value and
/// rule, and what to do.
bool parse_layout(const char* text, size_t length, const char* name, Layout* out, Text* error);

}  // namespace mosalloc
