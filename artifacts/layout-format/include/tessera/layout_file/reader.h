// reader.h - parses a layout file in memory into pool sizes and windows, or reports the first rule that it breaks.
//
// docs/reference/layout-format.md defines the grammar. The code does not allocate or throw, and std::sort is the only library
// function that it calls: the allocator reads its layout before the program has a heap.
#pragma once

#include <algorithm>

#include "tessera/layout_file/cells.h"

namespace tessera::layout_file {

enum PoolKind : uint8_t { kHeap, kAnon, kFile };
inline constexpr size_t kPools = 3;
inline constexpr const char* kPoolNames[kPools] = {"brk", "mmap", "file"};
inline constexpr const char* kColumns[] = {"type", "pageSize", "startOffset", "endOffset"};
inline constexpr uint64_t kPageSizes[] = {4096, 2097152, 1073741824};

struct Window {
    uint64_t start, end;  ///< bytes from the pool's base, end exclusive
    uint64_t page_bytes;
    uint64_t line;
    PoolKind pool;
};

/// Members have no initial values: read() sets the members that it uses and touches only the filled part of the array.
struct File {
    uint64_t pool_bytes[kPools];  ///< as written; 0 without a row
    uint64_t pool_line[kPools];   ///< of the size row; 0 without one
    size_t window_count;
    Window windows[kMaxWindows];  ///< sorted by pool and offset, 4KB windows too
};

/// Where and why the reader rejects a file. The value is a part of the text, or `number` if `value.text` is null.
struct Refusal {
    Rule rule;
    uint64_t line;
    const char* column;
    Cell value;
    uint64_t number;
    uint64_t detail[3];  ///< numbers appended to the rule's text
};

class Reader {
public:
    Reader(File* out, Refusal* why) : out_(out), why_(why) {}

    bool read(const char* text, size_t length) {
        out_->window_count = 0;
        for (size_t pool = 0; pool < kPools; ++pool) out_->pool_bytes[pool] = out_->pool_line[pool] = 0;
        const bool marked = length >= 3 && text[0] == '\xEF' && text[1] == '\xBB' && text[2] == '\xBF';
        for (size_t from = marked ? 3 : 0, at = from; at <= length; ++at) {
            if (at != length && text[at] != '\n') continue;
            ++line_;
            if (!line({text + from, at - from})) return false;
            from = at + 1;
        }
        if (!have_header_) return refuse(Rule::header, 1, "header", Cell{text, 0});
        return inside_pools() && disjoint();
    }

private:
    bool refuse(Rule rule, uint64_t line, const char* column, Cell value, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
        *why_ = {rule, line, column, value, 0, {a, b, c}};
        return false;
    }
    bool refuse(Rule rule, uint64_t line, const char* column, uint64_t number, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
        *why_ = {rule, line, column, {}, number, {a, b, c}};
        return false;
    }

    bool line(Cell raw) {
        if (raw.length != 0 && raw.text[raw.length - 1] == '\r') --raw.length;
        for (size_t i = 0; i < raw.length; ++i) {
            const char c = raw.text[i];
            if ((c < ' ' || c > '~') && c != '\t') return refuse(Rule::byte, line_, "row", {raw.text + i, 1});
            if (c == '"') return refuse(Rule::quote, line_, "row", trimmed(raw));
        }
        const Cell whole = trimmed(raw);
        if (whole.length == 0) return true;
        Cell cells[4];
        const size_t count = split(whole, cells, 4);
        if (have_header_) return row(cells, count, whole);
        have_header_ = count == 4;
        for (size_t i = 0; i < 4; ++i) have_header_ = have_header_ && cells[i].is(kColumns[i]);
        return have_header_ || refuse(Rule::header, line_, "header", whole);
    }

    bool row(const Cell* cells, size_t count, Cell whole) {
        if (count != 4) return refuse(Rule::columns, line_, "row", whole, count);
        size_t pool = 0;
        while (pool < kPools && !cells[0].is(kPoolNames[pool])) ++pool;
        if (pool == kPools) return refuse(Rule::type, line_, kColumns[0], cells[0]);
        return cells[1].is("-1") ? size_row(cells, pool) : window_row(cells, static_cast<PoolKind>(pool));
    }

    bool size_row(const Cell* cells, size_t pool) {
        uint64_t start = 0, size = 0;
        if (const uint64_t first = out_->pool_line[pool]) return refuse(Rule::pool_twice, line_, kColumns[0], cells[0], first);
        if (!offset(cells, 2, &start)) return false;
        if (start != 0) return refuse(Rule::pool_start, line_, kColumns[2], cells[2]);
        if (!offset(cells, 3, &size)) return false;
        out_->pool_bytes[pool] = size;
        out_->pool_line[pool] = line_;
        return true;
    }

    bool window_row(const Cell* cells, PoolKind pool) {
        uint64_t page = 0, offsets[2];
        Rule broken;
        const bool known =
            parse_size(cells[1], &page, &broken) && (page == kPageSizes[0] || page == kPageSizes[1] || page == kPageSizes[2]);
        if (!known) return refuse(Rule::page_size, line_, kColumns[1], cells[1]);
        if (pool == kFile && page != kPageSizes[0]) return refuse(Rule::file_pages, line_, kColumns[1], cells[1]);
        for (size_t i = 0; i < 2; ++i) {
            if (!offset(cells, 2 + i, &offsets[i])) return false;
            if (offsets[i] % page != 0) return refuse(Rule::alignment, line_, kColumns[2 + i], cells[2 + i], page);
        }
        if (offsets[1] <= offsets[0]) return refuse(Rule::empty_window, line_, kColumns[3], cells[3], offsets[0]);
        if (out_->window_count == kMaxWindows) return refuse(Rule::window_limit, line_, "row", cells[0], kMaxWindows);
        out_->windows[out_->window_count++] = {offsets[0], offsets[1], page, line_, pool};
        return true;
    }

    bool offset(const Cell* cells, size_t column, uint64_t* out) {
        Rule broken;
        return parse_size(cells[column], out, &broken) || refuse(broken, line_, kColumns[column], cells[column]);
    }

    /// Rows come in any order, so this runs after the last row. Windows are still in the order of lines.
    bool inside_pools() {
        for (size_t i = 0; i < out_->window_count; ++i) {
            const Window& w = out_->windows[i];
            if (out_->pool_line[w.pool] != 0 && w.end > out_->pool_bytes[w.pool])
                return refuse(Rule::outside_pool, w.line, kColumns[3], w.end, out_->pool_bytes[w.pool]);
        }
        return true;
    }

    /// If two windows overlap, the error names the later line. The pair is the first in the order of pools and offsets.
    bool disjoint() {
        Window* const windows = out_->windows;
        std::sort(windows, windows + out_->window_count, [](const Window& a, const Window& b) {
            if (a.pool != b.pool) return a.pool < b.pool;
            return a.start != b.start ? a.start < b.start : a.line < b.line;
        });
        for (size_t i = 1; i < out_->window_count; ++i) {
            const Window &low = windows[i - 1], &high = windows[i];
            if (low.pool != high.pool || high.start >= low.end) continue;
            const Window &first = low.line < high.line ? low : high, &second = low.line < high.line ? high : low;
            return refuse(Rule::overlap, second.line, kColumns[2], second.start, first.start, first.end, first.line);
        }
        return true;
    }

    File* out_;
    Refusal* why_;
    uint64_t line_ = 0;
    bool have_header_ = false;
};

/// Fills `out`, or returns false with the reason in `why`.
inline bool read(const char* text, size_t length, File* out, Refusal* why) { return Reader(out, why).read(text, length); }

}  // namespace tessera::layout_file
