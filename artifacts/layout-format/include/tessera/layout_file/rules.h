// rules.h - the reasons to reject a layout file: one row per rule, in the order of docs/reference/layout-format.md.
//
// Codes are stable: tests and scripts compare codes, never the texts. tessera.core.layouts.layout_format has the same
// table, and a test checks that both tables and the document agree.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::layout_file {

/// Most windows in a file, over all pools and page sizes. Each window is one kernel mapping. The kernel allows 65530
/// mappings per process (vm.max_map_count), and the program needs some of them.
inline constexpr size_t kMaxWindows = 16384;

enum class Rule : uint8_t {
    byte,
    quote,
    header,
    columns,
    type,
    page_size,
    file_pages,
    pool_twice,
    size,
    too_large,
    pool_start,
    alignment,
    empty_window,
    window_limit,
    outside_pool,
    overlap,
};

struct RuleText {
    const char* code;
    const char* found;  ///< printed after the value; some rules append a number
    const char* remedy;
};

inline constexpr RuleText kRules[] = {
    {"layout/byte", "must be printable ASCII, a tab or a line end", "save the file as plain ASCII text"},
    {"layout/quote", "must not contain quotes", "write the cells without quotes"},
    {"layout/header", "must be type,pageSize,startOffset,endOffset", "make this the first line of the file"},
    {"layout/columns", "must have 4 columns, has", "write exactly type,pageSize,startOffset,endOffset"},
    {"layout/type", "must be one of brk, mmap, file", "write one of the three types"},
    {"layout/page-size", "must be -1 or one of 4096, 2097152, 1073741824", "write one of these page sizes"},
    {"layout/file-pages", "the file pool has 4KB pages only", "remove the row"},
    {"layout/pool-twice", "this pool already has a size row on line", "remove one of the two rows"},
    {"layout/size", "must be bytes or a size like 64MB", "write digits with an optional unit: 4096, 64MB, 2GiB"},
    {"layout/too-large", "must be below 2^63 bytes", "write a smaller size"},
    {"layout/pool-start", "must be 0 in a row that gives a pool's size", "write 0"},
    {"layout/alignment", "must be a multiple of the page size", "round the offset to such a multiple"},
    {"layout/empty-window", "must be above startOffset", "correct the row or remove it"},
    {"layout/window-limit", "too many windows in one layout, the limit is", "merge adjacent windows"},
    {"layout/outside-pool", "the window ends outside its pool of", "enlarge the pool in its size row, or end the window inside it"},
    {"layout/overlap", "overlaps the window", "move or shorten one of the two windows"},
};

constexpr const RuleText& text_of(Rule rule) { return kRules[static_cast<size_t>(rule)]; }

}  // namespace tessera::layout_file
