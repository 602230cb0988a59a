#include "core/layout.h"

#include <algorithm>

namespace mosalloc {
namespace {

constexpr const char* kColumns[] = {"type", "pageSize", "startOffset", "endOffset"};

struct Cell {
    const char* text = nullptr;
    size_t length = 0;
    bool is(const char* word) const {
        size_t i = 0;
        while (i < length && word[i] != 0 && text[i] == word[i]) ++i;
        return i == length && word[i] == 0;
    }
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

Cell trimmed(Cell c) {
    while (c.length != 0 && is_space(c.text[0])) ++c.text, --c.length;
    while (c.length != 0 && is_space(c.text[c.length - 1])) --c.length;
    return c;
}

/// Splits at commas; counts cells beyond `capacity` without storing them.
size_t split(Cell line, Cell* cells, size_t capacity) {
    size_t count = 0, from = 0;
    for (size_t i = 0; i <= line.length; ++i) {
        if (i != line.length && line.text[i] != ',') continue;
        if (count < capacity) cells[count] = trimmed({line.text + from, i - from});
        ++count;
        from = i + 1;
    }
    return count;
}

/// `64MB`, `64MiB`, `64m` or plain bytes; false for anything else and for what does not fit 63 bits.
bool parse_size(Cell c, uint64_t* out) {
    size_t i = 0;
    uint64_t value = 0;
    for (; i < c.length && c.text[i] >= '0' && c.text[i] <= '9'; ++i) {
        if (value > (UINT64_C(1) << 62) / 10) return false;
        value = value * 10 + static_cast<uint64_t>(c.text[i] - '0');
    }
    if (i == 0) return false;
    while (i < c.length && is_space(c.text[i])) ++i;
    unsigned shift = 0;
    const auto letter = [&](char upper) { return i < c.length && (c.text[i] & ~0x20) == upper && ++i; };
    if (letter('K')) shift = 10;
    else if (letter('M')) shift = 20;
    else if (letter('G')) shift = 30;
    else if (letter('T')) shift = 40;
    if (shift != 0) letter('I');
    letter('B');
    if (i != c.length || value > (UINT64_C(1) << 62) >> shift) return false;
    *out = value << shift;
    return true;
}

class Parser {
public:
    Parser(const char* name, Layout* out, Text* error) : name_(name), out_(out), error_(error) {}

    bool header(Cell line);
    bool row(Cell line, uint64_t number);
    bool finish();

private:
    Text& bad(uint64_t line, const char* column, Cell value) {
        return error_->add("layout ").add(name_).add(" line ").number(line).add(", column ").add(column)
            .add(": '").add(value.text, value.length).add("': ");
    }
    bool remedy() {
        error_->add("\n  what to do: correct the file; tessera layouts check FILE repeats this check");
        return false;
    }
    bool size_row(const Cell* cells, uint64_t pool, Range range, uint64_t line, Cell whole);
    bool window_row(const Cell* cells, uint64_t pool, Range range, uint64_t line);
    void sort();

    const char* name_;
    Layout* out_;
    Text* error_;
};

bool Parser::header(Cell line) {
    Cell cells[5];
    bool good = split(line, cells, 5) == 4;
    for (size_t i = 0; good && i < 4; ++i) good = cells[i].is(kColumns[i]);
    if (good) return true;
    bad(1, "header", trimmed(line)).add("must be type,pageSize,startOffset,endOffset");
    return remedy();
}

bool Parser::row(Cell line, uint64_t number) {
    Cell cells[4];
    const size_t count = split(line, cells, 4);
    if (count != 4) {
        bad(number, "row", trimmed(line)).add("must have 4 columns, has ").number(count);
        return remedy();
    }
    const uint64_t pool = cells[0].is("brk") ? uint64_t{MOSALLOC_POOL_HEAP}
                          : cells[0].is("mmap") ? uint64_t{MOSALLOC_POOL_ANON} : uint64_t{MOSALLOC_POOL_FILE};
    if (pool == MOSALLOC_POOL_FILE && !cells[0].is("file")) {
        bad(number, kColumns[0], cells[0]).add("must be one of brk, mmap, file");
        return remedy();
    }
    uint64_t offsets[2];
    for (size_t i = 0; i < 2; ++i)
        if (!parse_size(cells[2 + i], &offsets[i])) {
            bad(number, kColumns[2 + i], cells[2 + i]).add("must be bytes or a size like 64MB");
            return remedy();
        }
    const Range range{offsets[0], offsets[1]};
    return cells[1].is("-1") ? size_row(cells, pool, range, number, trimmed(line))
                             : window_row(cells, pool, range, number);
}

bool Parser::size_row(const Cell* cells, uint64_t pool, Range range, uint64_t line, Cell whole) {
    bool& given = out_->pool_given[pool];
    if (given || range.start != 0) {
        bad(line, kColumns[2], given ? whole : cells[2]).add("a pool's size is one row with startOffset 0");
        return remedy();
    }
    given = true;
    out_->pool_bytes[pool] = align_up(range.end, kPage4K);
    return true;
}

bool Parser::window_row(const Cell* cells, uint64_t pool, Range range, uint64_t line) {
    uint64_t page = 0;
    if (!parse_size(cells[1], &page) || (page != kPage4K && page != kPage2M && page != kPage1G)) {
        bad(line, kColumns[1], cells[1]).add("must be -1 or one of 4096, 2097152, 1073741824");
        return remedy();
    }
    if (pool == MOSALLOC_POOL_FILE && page != kPage4K) {
        bad(line, kColumns[1], cells[1]).add("the file pool has 4KB pages only");
        return remedy();
    }
    const uint64_t offsets[] = {range.start, range.end};
    for (size_t i = 0; i < 2; ++i)
        if (offsets[i] % page != 0) {
            bad(line, kColumns[2 + i], cells[2 + i]).add("must be a multiple of the page size ").size(page);
            return remedy();
        }
    if (range.empty()) {
        bad(line, kColumns[3], cells[3]).add("must be above startOffset ").number(range.start);
        return remedy();
    }
    if (pool == MOSALLOC_POOL_FILE) return true;
    if (out_->window_count == MOSALLOC_MAX_WINDOWS) {
        bad(line, "row", cells[0]).add("a layout has at most ").number(MOSALLOC_MAX_WINDOWS).add(" windows");
        return remedy();
    }
    out_->windows[out_->window_count++] = {pool, page, range, line};
    return true;
}

void Parser::sort() {
    std::sort(out_->windows, out_->windows + out_->window_count, [](const Window& a, const Window& b) {
        return a.pool != b.pool ? a.pool < b.pool : a.range.start < b.range.start;
    });
}

bool Parser::finish() {
    for (size_t pool = 0; pool < kPools; ++pool)
        if (!out_->pool_given[pool]) out_->pool_bytes[pool] = kDefaultPoolBytes[pool];
    sort();
    size_t kept = 0;
    for (size_t i = 0; i < out_->window_count; ++i) {
        const Window w = out_->windows[i];
        char digits[24];
        Text value(digits);
        if (w.range.end > out_->pool_bytes[w.pool]) {
            value.number(w.range.end);
            bad(w.line, kColumns[3], {digits, value.length()}).add("window outside its pool of ")
                .size(out_->pool_bytes[w.pool]);
            if (!out_->pool_given[w.pool]) error_->add(" (the default: no row with pageSize -1)");
            return remedy();
        }
        if (i > 0 && out_->windows[i - 1].pool == w.pool && w.range.start < out_->windows[i - 1].range.end) {
            value.number(w.range.start);
            const Range& before = out_->windows[i - 1].range;
            bad(w.line, kColumns[2], {digits, value.length()}).add("overlaps the window ")
                .number(before.start).add("-").number(before.end);
            return remedy();
        }
    }
    for (size_t i = 0; i < out_->window_count; ++i)
        if (out_->windows[i].page_bytes != kPage4K) out_->windows[kept++] = out_->windows[i];
    out_->window_count = kept;
    return true;
}

}  // namespace

uint64_t Layout::pages(uint64_t page_bytes) const {
    uint64_t count = 0;
    for (size_t i = 0; i < window_count; ++i)
        if (windows[i].page_bytes == page_bytes) count += windows[i].range.bytes() / page_bytes;
    return count;
}

bool parse_layout(const char* text, size_t length, const char* name, Layout* out, Text* error) {
    out->window_count = 0;
    for (size_t pool = 0; pool < kPools; ++pool) {
        out->pool_bytes[pool] = 0;
        out->pool_given[pool] = false;
    }
    Parser parser(name, out, error);
    uint64_t number = 0;
    for (size_t from = 0, at = 0; at <= length; ++at) {
        if (at != length && text[at] != '\n') continue;
        const Cell line{text + from, at - from};
        from = at + 1;
        ++number;
        if (number == 1) {
            if (!parser.header(line)) return false;
        } else if (trimmed(line).length != 0 && !parser.row(line, number)) {
            return false;
        }
    }
    return parser.finish();
}

}  // namespace mosalloc
