#include "design_rows.h"

#include "medium_mapping.h"
#include "mmu/design.h"
#include "streams.h"
#include "support/platforms.h"

namespace tessera::sim::benchmark {
namespace {

const char* const all_designs[] = {"thp",   "anchor",          "cluster",          "cluster-2mb", "rmm", "direct-segment",
                                   "ideal", "hvc-delayed-tlb", "hvc-many-segment", "nested"};

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
