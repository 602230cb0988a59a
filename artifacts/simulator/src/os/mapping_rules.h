// mapping_rules.h - the rules of mapping files (docs/reference/mappings.md) and of their place in a trace: code, rule, next step.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tessera::sim::mapping_rules {

struct Rule {
    const char *code, *found, *remedy;
};

inline constexpr const char* again = "correct the row, or make the file again: tessera mapping generate --help";
inline constexpr const char* header_line = "epoch,pool,page,frame,pages,page_size";

inline constexpr Rule header{"mapping/header", "the first line must be epoch,pool,page,frame,pages,page_size",
                             "make this the first line of the file"};
inline constexpr Rule columns{"mapping/columns", "a row must have 6 cells", "write epoch,pool,page,frame,pages,page_size"};
inline constexpr Rule pool{"mapping/pool", "the pool must be brk or mmap", "write one of the two pools"};
inline constexpr Rule number{"mapping/number", "must be a whole number in decimal digits, without a sign",
                             "write digits only; only a frame may be empty"};
inline constexpr Rule page_size{"mapping/page-size", "the page size must be 4KB, 2MB or 1GB", "write one of the three sizes"};
inline constexpr Rule range{"mapping/range", "out of range: epoch < 2^63, page and pages < 2^36, frame < 2^40, pages at least 1", again};
inline constexpr Rule unmapped_size{"mapping/unmapped-size", "a range without a frame (unmapped) must have the page size 4KB",
                                    "write 4KB in this row"};
inline constexpr Rule alignment{"mapping/alignment", "page, frame and pages must be multiples of the page size (in pages of 4KB)", again};
inline constexpr Rule unsorted{"mapping/unsorted", "rows must be sorted by epoch, pool (brk first) and page",
                               "sort the rows by these three columns"};
inline constexpr Rule overlap{"mapping/overlap", "begins inside the range of the row above, of the same epoch and pool",
                              "end the row above earlier"};
inline constexpr Rule no_rows{"mapping/no-rows", "the file has no rows, so no page is mapped", again};
inline constexpr Rule first_epoch{"mapping/first-epoch", "the first epoch must be 0, with every page that is mapped then",
                                  "give the first rows the epoch 0"};
inline constexpr Rule first_unmapped{"mapping/first-unmapped",
                                     "the first epoch must not have a row without a frame: nothing is mapped before it", "remove the row"};
inline constexpr Rule cut_page{"mapping/cut-page", "the range replaces a part of a larger page",
                               "add rows for the rest of that page in this epoch"};
inline constexpr Rule frames{"mapping/frames", "two pages have the same frame at the same time", again};

// Rules of the simulator alone.
inline constexpr Rule no_pool{"trace/no-pool", "the trace has no such pool", "remove the row"};
inline constexpr Rule outside_pool{"trace/outside-pool", "the row ends outside its pool", "end the row inside the pool"};
inline constexpr Rule frame_limit{"trace/frame", "the simulator needs frames below 2^36", again};
inline constexpr Rule pool_base{"trace/pool-base", "the pool's base must be a multiple of the page size",
                                "record the trace under libmosalloc, whose pools are aligned to 1GB"};

/// The beginning of a value. Bytes that are not printable become \xNN.
inline std::string shown(std::string_view value) {
    std::string text;
    for (const char c : value.substr(0, 40)) {
        char hex[8];
        std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += c >= ' ' && c <= '~' ? std::string(1, c) : hex;
    }
    return value.size() > 40 ? text + "..." : text;
}

/// `detail` follows the rule, for example with the size of the pool.
[[noreturn]] inline void refuse(const Rule& rule, const std::string& path, size_t line, const char* column, std::string_view value,
                                const std::string& detail = "") {
    throw Refusal("mapping " + path + " line " + std::to_string(line) + ", column " + column,
                  "'" + shown(value) + "': " + rule.found + detail + " [" + rule.code + "]", rule.remedy);
}

}  // namespace tessera::sim::mapping_rules
