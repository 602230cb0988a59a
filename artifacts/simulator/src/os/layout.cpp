// layout.cpp - checks a layout file against the pools of a trace. tests/layout_test.cpp lists the rules of this file;
// artifacts/layout-format lists the rules of the grammar.
#include "os/layout.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "tessera/layout_file/message.h"

namespace tessera::sim {
namespace {

trace::PoolKind kind_of(layout_file::PoolKind pool) {
    return pool == layout_file::kHeap ? trace::PoolKind::heap : trace::PoolKind::anon;  // the file pool has no large pages
}

/// 1GB windows may cover the last, partly used gigabyte of a traced pool: a run under this layout has a larger pool.
bool inside(const Window& window, uint64_t pool_bytes) {
    const uint64_t slack = window.page_size == PageSize::huge_1gb ? gib - 1 : 0;
    return window.end <= pool_bytes || window.end - slack <= pool_bytes;
}

void check_place(const Window& window, const std::string& path, const std::vector<trace::Pool>& pools) {
    const std::string name = name_of(window.pool);
    const auto refuse = [&](const char* column, const std::string& value, const std::string& rule, const std::string& remedy) {
        throw Refusal("layout " + path + " line " + std::to_string(window.line) + ", column " + column, "'" + value + "': " + rule, remedy);
    };
    const auto pool = std::find_if(pools.begin(), pools.end(), [&](const trace::Pool& p) { return p.kind == window.pool; });
    if (pool == pools.end()) refuse("type", name, "the trace has no such pool [trace/no-pool]", "remove the row");
    if (!inside(window, pool->size_bytes))
        refuse(
            "endOffset", std::to_string(window.end),
            "the window ends outside its pool, which has " + std::to_string(pool->size_bytes) + " bytes in the trace [trace/outside-pool]",
            "end the window inside the pool");
    if (pool->base % bytes_of(window.page_size).value != 0)
        refuse("pageSize", std::to_string(bytes_of(window.page_size).value),
               "the pool's base in the trace, " + std::to_string(pool->base) + ", must be a multiple of the page size [trace/pool-base]",
               "record the trace under libmosalloc, whose pools are aligned to 1GB");
}

}  // namespace

std::string layout_name(const std::string& path) { return std::filesystem::path(path).stem().string(); }

Layout parse_layout(const std::string& text, const std::string& path, const std::vector<trace::Pool>& pools) {
    const std::unique_ptr<layout_file::File> file(new layout_file::File);  // half a megabyte, of which little is touched
    layout_file::Refusal why;
    if (!layout_file::read(text.data(), text.size(), file.get(), &why)) {
        const layout_file::Message message(why, path.c_str());
        throw Refusal(message.asked, message.found, message.remedy);
    }
    Layout layout{layout_name(path), {}};
    for (size_t i = 0; i < file->window_count; ++i) {
        const layout_file::Window& w = file->windows[i];
        if (w.page_bytes == bytes_of(PageSize::small_4kb).value) continue;
        const PageSize size = w.page_bytes == gib ? PageSize::huge_1gb : PageSize::large_2mb;
        layout.windows.push_back({kind_of(w.pool), size, w.start, w.end, static_cast<size_t>(w.line)});
        check_place(layout.windows.back(), path, pools);
    }
    return layout;
}

Layout read_layout(const std::string& path, const std::vector<trace::Pool>& pools) {
    return parse_layout(read_text(path, "layout"), path, pools);
}

}  // namespace tessera::sim
