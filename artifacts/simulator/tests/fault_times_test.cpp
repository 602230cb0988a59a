// Latencies of woven faults: one computed by hand, their sum, samples, and the rows of --fault-times-out.
#include <gtest/gtest.h>

#include "engine/weave/fault_times.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_woven.h"
#include "support/woven.h"

namespace tessera::sim::testing {
namespace {

using namespace weave;

/// Additions and a store, so that times can be computed by hand: eight instructions if three tables are new, else four.
const std::string short_work =
    "tessera-fault-templates 1\nkernel 6.12.117\ntemplate write-4kb 3 0\n8 s fixed 0 8\nend 0\ntemplate write-4kb 0 0\n4 s fixed 0 8\nend 0\n";

Platform with_frames() {
    Platform platform = haswell();
    platform.allocator = "mapped";
    platform.exception_entry_cycles = 10000, platform.exception_exit_cycles = 2000;
    return platform;
}

TEST(FaultTimes, AreComputedByHand) {
    TwoFaults made;
    WovenStream woven(*made.stream, parse_templates(short_work, "t.txt"), "t.txt", made.layout.mapping);
    const Platform platform = with_frames();
    ASSERT_EQ(platform.dispatch_width, 4u);
    ASSERT_EQ(platform.latency.alu, 1u);
    const LayoutCounts counts = on_all_engines(platform, woven, {made.layout})[0];
    const std::vector<FaultTime>& faults = counts.kernel.faults;
    ASSERT_EQ(faults.size(), 2u);
    EXPECT_EQ(faults[0].fault, 0u);
    EXPECT_EQ(faults[1].fault, 1u);
    // Entry holds dispatch for 10000 cycles. Eight instructions enter in two cycles, the first of exit in the next and holds dispatch, too; the
    // second one takes a cycle to compute. The store's translation takes less than exit.
    EXPECT_EQ(faults[0].cycles, 10000u + 2 + 2000 + 1);
    EXPECT_EQ(faults[0].cycles + faults[1].cycles, counts.kernel.cycles);
    // The second fault enters in the cycle of the program's two stores or in the next one, while the first of them waits for its walk. Its four
    // instructions enter in one cycle.
    const uint64_t apart = counts.units[0].runtime_cycles - faults[0].cycles;
    EXPECT_GE(apart, 10000u + 1 + 2000);
    EXPECT_LT(faults[1].cycles, 10000u + 2 + 2000 + 1);
}

/// Under samples, only faults of timed parts have times; their numbers are those of the whole stream.
TEST(FaultTimes, AreOfTimedPartsAlone) {
    RandomWoven random(93, 3000);
    const Platform platform = with_frames();
    const auto full = on_all_engines(platform, random.woven, {random.layout})[0].kernel.faults;
    ASSERT_EQ(full.size(), random.woven.faults().size());
    for (size_t i = 0; i < full.size(); ++i) {
        EXPECT_EQ(full[i].fault, i);
        EXPECT_GE(full[i].cycles, 2000u);
    }
    const auto some = on_all_engines(platform, random.woven, {random.layout}, Sampling{false, 4, 200, 150})[0].kernel.faults;
    EXPECT_FALSE(some.empty());
    EXPECT_LT(some.size(), full.size());
    for (size_t i = 1; i < some.size(); ++i) EXPECT_LT(some[i - 1].fault, some[i].fault);
    EXPECT_LT(some.back().fault, full.size());
}

TEST(FaultTimes, RowsNameWhatTheFaultDid) {
    TwoFaults made;
    WovenStream woven(*made.stream, parse_templates(small_text, "t.txt"), "t.txt", made.layout.mapping);
    trace::Frame frame;
    while (woven.next(frame)) {
    }
    EXPECT_EQ(fault_times_header(), "layout,fault,access,page,kind,page_bytes,tables,batch,cycles");
    const std::string name = made.layout.name + ",";
    const auto page = [](uint64_t number) { return std::to_string((anon_base >> 12) + number); };
    EXPECT_EQ(format_fault_times(made.layout, {{0, 777}, {1, 55}}, woven.faults()),
              name + "0,0," + page(5) + ",write-4kb,4096,3,0,777\n" + name + "1,2," + page(6) + ",write-4kb,4096,0,0,55\n");
    EXPECT_EQ(format_fault_times(made.layout, {{1, 55}}, woven.faults()), name + "1,2," + page(6) + ",write-4kb,4096,0,0,55\n");
    woven.rewind();
    EXPECT_TRUE(woven.faults().empty());
}

}  // namespace
}  // namespace tessera::sim::testing
