// layout.cpp - parsing layout files. Each rule has one message; tests/layout_test.cpp lists them all.
#include "os/layout.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace tessera::sim {
namespace {

constexpr std::string_view header = "type,pageSize,startOffset,endOffset";

struct Place {  // where a message points
    const std::string& path;
    size_t line;
};

[[noreturn]] void refuse(const Place& at, const std::string& column, const std::string& rule, std::string_view value,
                         const std::string& remedy) {
    throw Refusal("layout " + at.path + ", line " + std::to_string(at.line) + ", column " + column + ": " + rule,
                  "'" + std::string(value) + "'", remedy);
}

uint64_t offset(const Place& at, const char* column, std::string_view text) {
    const auto value = parse_bytes(text);
    if (!value) refuse(at, column, "bytes, a whole number (KB, MB, GB allowed)", text, "write the offset in bytes");
    return *value;
}

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// 1GB windows may cover the last, partly used gigabyte of a pool.
uint64_t reach(uint64_t pool_size, PageSize size) {
    return size == PageSize::huge_1gb ? round_up(pool_size, gib) : pool_size;
}

std::optional<trace::PoolKind> kind_of(std::string_view type) {
    if (type == "brk") return trace::PoolKind::heap;
    if (type == "mmap") return trace::PoolKind::anon;
    return std::nullopt;
}

Window parse_window(const Place& at, const std::vector<std::string_view>& cell, const std::vector<trace::Pool>& pools) {
    Window window{};
    window.line = at.line;
    const auto page_bytes = parse_bytes(cell[1]);
    if (page_bytes == 2 * mib) window.page_size = PageSize::large_2mb;
    else if (page_bytes == gib) window.page_size = PageSize::huge_1gb;
    else refuse(at, "pageSize", "2097152, 1073741824, or -1 for a pool's size", cell[1], "4KB is the default outside windows");
    const auto kind = kind_of(cell[0]);
    if (!kind) refuse(at, "type", "windows of a trace lie in brk or mmap", cell[0], "move the window to one of these pools");
    window.pool = *kind;
    window.begin = offset(at, "startOffset", cell[2]);
    window.end = offset(at, "endOffset", cell[3]);
    const uint64_t page = bytes_of(window.page_size).value;
    const std::string aligned = "a multiple of the page size " + std::string(cell[1]);
    if (window.begin % page != 0) refuse(at, "startOffset", aligned, cell[2], "round it down");
    if (window.end % page != 0) refuse(at, "endOffset", aligned, cell[3], "round it up");
    if (window.end <= window.begin) refuse(at, "endOffset", "greater than startOffset " + std::string(cell[2]), cell[3], "drop the row or correct it");
    const auto pool = std::find_if(pools.begin(), pools.end(), [&](const trace::Pool& p) { return p.kind == *kind; });
    if (pool == pools.end()) refuse(at, "type", "a pool of the trace", cell[0], "the trace has no such pool: drop the row");
    if (window.end > reach(pool->size_bytes, window.page_size))
        refuse(at, "endOffset", "window outside its pool, which has " + std::to_string(pool->size_bytes) + " bytes in the trace", cell[3],
               "end the window at the pool's end");
    if (pool->base % page != 0)
        refuse(at, "pageSize", "pool base " + std::to_string(pool->base) + " aligned to the page size", cell[1],
               "record the trace under libmosalloc, whose pools are aligned to 1GB");
    return window;
}

}  // namespace

const char* pool_name(trace::PoolKind kind) { return kind == trace::PoolKind::heap ? "brk" : "mmap"; }

std::string layout_name(const std::string& path) { return std::filesystem::path(path).stem().string(); }

Layout parse_layout(const std::string& text, const std::string& path, const std::vector<trace::Pool>& pools) {
    Layout layout{layout_name(path), {}};
    std::optional<uint64_t> declared[2];
    size_t line_number = 0;
    bool have_header = false;
    for (std::string_view raw : split(text, '\n')) {
        const Place at{path, ++line_number};
        const std::string_view line = trim(raw);
        if (line.empty()) continue;
        if (!have_header) {
            if (line != header) refuse(at, "1-4", "the header " + std::string(header), line, "begin the file with it");
            have_header = true;
            continue;
        }
        const auto cell = split(line, ',');
        if (cell.size() != 4) refuse(at, std::to_string(cell.size()), "4 columns, " + std::string(header), line, "correct the row");
        if (cell[0] != "brk" && cell[0] != "mmap" && cell[0] != "file")
            refuse(at, "type", "brk, mmap or file", cell[0], "correct the type");
        if (cell[1] != "-1") {
            layout.windows.push_back(parse_window(at, cell, pools));
            continue;
        }
        if (offset(at, "startOffset", cell[2]) != 0) refuse(at, "startOffset", "0 in a row that gives a pool's size", cell[2], "write 0");
        const uint64_t size = offset(at, "endOffset", cell[3]);
        if (const auto kind = kind_of(cell[0])) {
            auto& slot = declared[static_cast<size_t>(*kind)];
            if (slot) refuse(at, "type", "one size row a pool", cell[0], "drop one of the two");
            slot = size;
        }
    }
    if (!have_header) refuse({path, 1}, "1-4", "the header " + std::string(header), "", "the file is empty");
    auto& windows = layout.windows;
    std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
        return a.pool != b.pool ? a.pool < b.pool : a.begin < b.begin;
    });
    for (size_t i = 0; i < windows.size(); ++i) {
        const Window& w = windows[i];
        const auto& size = declared[static_cast<size_t>(w.pool)];
        if (size && w.end > reach(*size, w.page_size))
            refuse({path, w.line}, "endOffset", "window outside its pool, which this file gives " + std::to_string(*size) + " bytes",
                   std::to_string(w.end), "enlarge the pool's row or end the window at the pool's end");
        if (i > 0 && windows[i - 1].pool == w.pool && windows[i - 1].end > w.begin)
            refuse({path, std::max(w.line, windows[i - 1].line)}, "startOffset",
                   "no overlap with the window of line " + std::to_string(std::min(w.line, windows[i - 1].line)),
                   std::to_string(w.begin), "let each byte have one page size");
    }
    return layout;
}

Layout read_layout(const std::string& path, const std::vector<trace::Pool>& pools) {
    return parse_layout(read_text(path, "layout"), path, pools);
}

}  // namespace tessera::sim
