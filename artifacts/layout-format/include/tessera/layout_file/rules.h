// rules.h - why a layout file is refused: one row a rule, in the order of docs/layout-format.md, which explains them.
//
// Codes are stable: tests and scripts compare them, never the words. tessera.layouts.rules has the same table, and a
// test holds the two and the document together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::layout_file {

/// Windows of a file, of all pools and page sizes. Each is a mapping of the kernel's, which allows 65530
/// (vm.max_map_count), and the program needs some of them.
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
    const char* found;  ///< said behind the value; some rules add a number
    const char* remedy;
};

inline constexpr RuleText kRules[] = {
    {"layout/byte", "must be printable ASCII, tabs and line ends", "save the file as plain text"},
    {"layout/quote", "must have no quotes", "write the cells without quotes"},
    {"layout/header", "must be type,pageSize,startOffset,endOffset", "begin the file with this line"},
    {"layout/columns", "must have 4 columns, has", "write type,pageSize,startOffset,endOffset and nothing else"},
    {"layout/type", "must be one of brk, mmap, file", "correct the type"},
    {"layout/page-size", "must be -1 or one of 4096, 2097152, 1073741824", "correct the page size"},
    {"layout/file-pages", "the file pool has 4KB pages only", "drop the row"},
    {"layout/pool-twice", "a second size row of this pool, the first is line", "keep one of the two"},
    {"layout/size", "must be bytes or a size like 64MB", "write digits, and a unit if you like: 4096, 64MB, 2GiB"},
    {"layout/too-large", "must be below 2^63 bytes", "write a smaller size"},
    {"layout/pool-start", "must be 0 in a row that gives a pool's size", "write 0"},
    {"layout/alignment", "must be a multiple of the page size", "round the offset"},
    {"layout/empty-window", "must be above startOffset", "drop the row or correct it"},
    {"layout/window-limit", "one window too many, a layout has at most", "merge windows that touch"},
    {"layout/outside-pool", "window outside its pool of", "enlarge the pool's row or end the window with the pool"},
    {"layout/overlap", "overlaps the window", "let each byte have one page size"},
};

constexpr const RuleText& text_of(Rule rule) { return kRules[static_cast<size_t>(rule)]; }

}  // namespace tessera::layout_file
