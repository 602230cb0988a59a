#include "shared_rows.h"

#include "medium_mapping.h"
#include "mmu/design.h"
#include "streams.h"
#include "support/platforms.h"

namespace tessera::sim::benchmark {
namespace {

std::vector<Platform> twenty_designs() {
    std::vector<Platform> all;
    const auto add = [&](Chosen design) {
        all.push_back(testing::haswell());
        all.back().mmu_design = std::move(design);
    };
    for (const char* design : {"thp", "noop", "nested", "baseline", "cluster", "cluster-2mb", "rmm"}) add(design);
    for (uint64_t distance = 2; all.size() < 20; distance *= 2) add({"anchor", {{"distance_pages", distance}}});
    return all;
}

struct Found {
    double seconds = 0;
    std::vector<LayoutCounts> counts;
};

/// The platforms in one run.
Found run(const std::vector<Platform>& platforms, MemoryStream& stream, const Layout& mapping, const Sampling& sampling, size_t runs) {
    const SamplePlan plan(sampling, stream.header());
    CellsRequest request{stream, plan, {}};
    for (const Platform& platform : platforms) request.cells.push_back({&platform, &mapping});
    Found found;
    found.seconds = shortest_seconds(runs, [&] {
        found.counts.clear();
        for (CellCounts& cell : make_engine("partial")->run_cells(request)) found.counts.push_back(std::move(cell.counts));
    });
    return found;
}

}  // namespace

bool shared_rows(Report& report, size_t accesses, size_t runs) {
    const Layout mapping = medium_mapping();
    const std::vector<Platform> platforms = twenty_designs();
    bool same = true;
    for (const char* name : {"gups", "zipf", "resident"}) {
        MemoryStream stream = make_stream(name, accesses);
        for (const auto& [row, sampling] : {std::pair{"H,M", Sampling{false, 0, 0, 0}}, std::pair{"H,M,C", Sampling{}}}) {
            const Found together = run(platforms, stream, mapping, sampling, runs);
            Found alone;
            double of_thp = 0;
            for (const Platform& platform : platforms) {
                const Found one = run({platform}, stream, mapping, sampling, runs);
                if (alone.counts.empty()) of_thp = one.seconds;
                alone.seconds += one.seconds;
                alone.counts.push_back(one.counts.at(0));
            }
            const bool equal = together.counts == alone.counts;
            const double work = double(accesses) / 1e6, works = work * double(platforms.size());
            report.add({std::string("20 designs, alone: ") + row, name, "accesses x designs/s", works / alone.seconds,
                        works / together.seconds, equal, sampling.full});
            report.add(
                {std::string("20 designs, one: ") + row, name, "accesses/s", work / of_thp, work / together.seconds, equal, sampling.full});
            same &= equal;
        }
    }
    return same;
}

}  // namespace tessera::sim::benchmark
