#include "plain_rows.h"

#include <cstdlib>

#include "base/isa.h"
#include "mosaics.h"
#include "plain_lanes.h"
#include "streams.h"
#include "support/isa.h"
#include "support/platforms.h"

namespace tessera::sim::benchmark {
namespace {

/// One stream under all layouts, as plain_lanes() takes it.
struct PlainStream {
    MemoryStream stream;
    std::vector<uint64_t> offsets, huge;

    PlainStream(const std::string& name, size_t accesses, const std::vector<Layout>& layouts)
        : stream(make_stream(name, accesses)), huge(pool_bytes >> 21) {
        for (const trace::Frame& frame : stream.frames())
            for (const uint64_t address : frame.addresses) offsets.push_back(address - testing::heap_base);
        for (size_t l = 0; l < layouts.size(); ++l)
            for (const Window& window : layouts[l].windows)
                for (uint64_t at = window.begin; at < window.end; at += 2 * mib) huge[at >> 21] |= uint64_t{1} << l;
    }
};

bool row(Report& report, const std::string& isa, const std::string& name, PlainStream& s, const std::vector<Layout>& layouts, unsigned ways,
         size_t runs) {
    Platform platform = testing::haswell();
    platform.stlb = {128 * ways, ways};
    const PlainLanesInput input{s.offsets.data(), s.offsets.size(), s.huge.data(), unsigned(layouts.size()), ways};
    const auto plain = isa == "avx512" ? plain_lanes_avx512 : plain_lanes_avx2;
    PlainLanesCounts expected;
    std::vector<LayoutCounts> found;
    const double plain_seconds = shortest_seconds(runs, [&] { plain(input, expected); });
    const double engine_seconds = shortest_seconds(runs, [&] {
        found = testing::simulate("partial", platform, s.stream, layouts, {false, 1, 0, 1});  // one unit of one block: all else is H and M
    });
    bool same = true;
    for (size_t l = 0; l < layouts.size(); ++l)
        same &= expected.hits[l] == found[l].stlb_hits && expected.misses[l] == found[l].stlb_misses;
    const double work = double(s.offsets.size()) * double(layouts.size()) / 1e6;
    report.add({"H,M " + isa + " stlb " + std::to_string(128 * ways), name, "accesses x layouts/s", work / plain_seconds,
                work / engine_seconds, same});
    return same;
}

}  // namespace

bool plain_rows(Report& report, size_t accesses, size_t layout_count, size_t runs) {
    if (layout_count > plain_lanes_most) return true;
    const std::vector<Layout> layouts = Mosaics(pool_bytes).make(layout_count);
    const char* const before = std::getenv("TESSERA_SIM_ISA");
    const std::string own = before != nullptr ? before : "";
    bool same = true;
    for (const char* name : {"gups", "updates", "zipf", "resident"}) {
        PlainStream stream(name, accesses, layouts);
        for (const std::string isa : testing::instruction_sets()) {
            if (isa == "baseline") continue;
            setenv("TESSERA_SIM_ISA", isa.c_str(), 1);
            report.set_isa(isa);
            for (const unsigned ways : {8u, 4u}) same &= row(report, isa, name, stream, layouts, ways, runs);
        }
    }
    if (own.empty()) unsetenv("TESSERA_SIM_ISA");
    else setenv("TESSERA_SIM_ISA", own.c_str(), 1);
    report.set_isa(chosen_isa());
    return same;
}

}  // namespace tessera::sim::benchmark
