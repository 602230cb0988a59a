#include "design_rows.h"

#include <random>

#include "mmu/design.h"
#include "os/mapping.h"
#include "streams.h"
#include "support/platforms.h"

namespace tessera::sim::benchmark {
namespace {

const char* const all_designs[] = {"thp", "anchor", "cluster", "cluster-2mb", "rmm", "direct-segment", "ideal", "hvc-delayed-tlb", "hvc-many-segment", "nested"};

Layout medium_mapping() {
    auto mapping = std::make_shared<Mapping>();
    mapping->name = "medium";
    mapping->epochs.push_back({});
    std::mt19937_64 random(3);
    const uint64_t pages = pool_bytes >> 12;
    uint64_t frame = 0;
    const auto row = [&](uint64_t begin, uint64_t end, uint64_t chunk, PageSize size) {
        if (begin < end) mapping->epochs[0].rows.push_back({trace::PoolKind::heap, begin, frame + (begin - chunk), end - begin, size});
    };
    for (uint64_t page = 0; page < pages;) {
        const uint64_t chunk = page, end = std::min(pages, page + 1 + random() % 512);
        frame += 512 - frame % 512 + page % 512;  // as far into 2MB as the page
        for (uint64_t at = page; at < end;) {
            const bool large = at % 512 == 0 && at + 512 <= end;
            const uint64_t next = large ? at + 512 : std::min(end, at / 512 * 512 + 512);
            row(at, next, chunk, large ? PageSize::large_2mb : PageSize::small_4kb);
            at = next;
        }
        frame += end - page + 1;
        page = end;
    }
    return layout_of(std::move(mapping));
}

double seconds_of(const char* design, const char* engine, MemoryStream& stream, const Layout& mapping, size_t runs) {
    Platform platform = testing::haswell();
    platform.mmu_design = design;
    return shortest_seconds(runs, [&] { testing::simulate(engine, platform, stream, {mapping}); });
}

}  // namespace

bool design_rows(Report& report, size_t accesses, size_t runs) {
    const Layout mapping = medium_mapping();
    for (const char* name : {"gups", "zipf", "resident"}) {
        MemoryStream stream = make_stream(name, accesses);
        for (const char* engine : {"partial", "timing"}) {
            const bool with_clock = std::string(engine) == "timing";
            const double work = double(accesses) / 1e6;
            const double noop = seconds_of("noop", engine, stream, mapping, runs);
            for (const char* design : all_designs) {
                const double seconds = seconds_of(design, engine, stream, mapping, runs);
                report.add({std::string("design ") + design + (with_clock ? ": R" : ": H,M,C"), name, "accesses x mappings/s", work / noop,
                            work / seconds, true});
            }
        }
    }
    return true;
}

}  // namespace tessera::sim::benchmark
