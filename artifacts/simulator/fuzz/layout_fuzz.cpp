// layout_fuzz.cpp - layout files over pools of odd sizes and places: accepted windows are aligned, disjoint and in a pool.
#include "base/error.h"
#include "fuzz.h"
#include "os/layout.h"

using namespace tessera;
using namespace tessera::sim;

namespace {

constexpr const char* head = "type,pageSize,startOffset,endOffset\n";

std::vector<trace::Pool> random_pools(fuzz::Random& rng) {
    std::vector<trace::Pool> pools;
    for (const auto kind : {trace::PoolKind::heap, trace::PoolKind::anon}) {
        if (rng() % 8 == 0) continue;
        trace::Pool pool{kind, (1 + rng() % 64) * gib + (rng() % 8 ? 0 : 4096), (1 + rng() % 4000) * mib, 0};
        if (rng() % 8 == 0) pool.base = fuzz::border(rng);
        if (rng() % 8 == 0) pool.size_bytes = fuzz::border(rng);
        if (pool.size_bytes > UINT64_MAX - pool.base) pool.size_bytes = UINT64_MAX - pool.base;  // the trace reader's rule
        pools.push_back(pool);
    }
    return pools;
}

std::string random_file(fuzz::Random& rng) {
    std::string text = rng() % 16 ? head : "";
    for (uint64_t rows = rng() % 7; rows > 0; --rows) {
        const uint64_t page = rng() % 3 ? 2 * mib : gib, start = rng() % 16 * page;
        if (rng() % 6 == 0) text += rng() % 2 ? "brk,-1,0,8GB\n" : "mmap,-1,0,2000MB\n";
        text += (rng() % 2 ? "brk," : "mmap,") + std::to_string(page) + "," + std::to_string(start) + "," +
                std::to_string(start + (1 + rng() % 4) * page) + "\n";
    }
    if (rng() % 2)
        fuzz::mutate(text, rng,
                     {",",
                      "\n",
                      "\r\n",
                      "brk",
                      "mmap",
                      "file",
                      "-1",
                      "0",
                      "4096",
                      "2MB",
                      "4KB",
                      " 1 GiB",
                      "9999999GB",
                      "\"",
                      "\xEF\xBB\xBF",
                      "18446744073709551615",
                      "18446744073707454464",
                      "17179869183GB",
                      "-5",
                      std::string_view("\0", 1),
                      "type,pageSize,startOffset,endOffset\n"});
    return text;
}

const char* broken_rule(const Layout& layout, const std::vector<trace::Pool>& pools) {
    for (size_t i = 0; i < layout.windows.size(); ++i) {
        const Window& w = layout.windows[i];
        const uint64_t page = bytes_of(w.page_size).value;
        if (w.page_size == PageSize::small_4kb || w.begin >= w.end || w.begin % page || w.end % page)
            return "windows are whole large pages";
        const Window* before = i > 0 ? &layout.windows[i - 1] : nullptr;
        if (before && (before->pool > w.pool || (before->pool == w.pool && before->end > w.begin)))
            return "windows are sorted and disjoint";
        const trace::Pool* pool = nullptr;
        for (const trace::Pool& p : pools)
            if (p.kind == w.pool) pool = &p;
        if (!pool || pool->base % page) return "windows lie in an aligned pool of the trace";
        // A 1GB window may reach over the end of its pool's last gigabyte, never over the end of addresses.
        const uint64_t slack = w.page_size == PageSize::huge_1gb ? gib - 1 : 0;
        if (w.end > slack && w.end - slack > pool->size_bytes) return "windows end with their pool";
        if (w.end - 1 > UINT64_MAX - pool->base) return "windows end within the address space";
    }
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<trace::Pool> pools;
    const auto make = [&](fuzz::Random& rng) {
        pools = random_pools(rng);
        return random_file(rng);
    };
    return fuzz::run_reader<Refusal>("layout_fuzz", count, arguments, make, [&](const std::string& text, fuzz::Random&) {
        return broken_rule(parse_layout(text, "fuzz.csv", pools), pools);
    });
}
