// Where epochs begin: an access at a time, and in runs that are cut. Both find the same places.
#include <gtest/gtest.h>

#include "engine/epoch_cursor.h"
#include "support/random_log.h"

namespace tessera::sim::testing {
namespace {

TEST(EpochCursor, WithoutAMappingNothingChanges) {
    EpochCursor epochs(nullptr);
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(epochs.next_access());
    EXPECT_EQ(epochs.accesses(), 5u);
    EXPECT_EQ(epochs.until_epoch(1000), 1000u);
    epochs.skip(1000);
    EXPECT_EQ(epochs.accesses(), 1005u);
}

TEST(EpochCursor, RunsAreCutWhereAnAccessFindsAnEpoch) {
    RandomLog random(21);
    random.make(3000);
    const MemoryStream stream = random.stream();
    const Layout layout = random.layout(stream.header());
    MappedPages pages(layout.mapping, stream.header().pools), in_runs = pages;
    std::vector<uint64_t> places, cuts, ranges, ranges_of_cuts;
    EpochCursor one(&pages);
    while (one.accesses() < 3000)
        if (one.next_access()) places.push_back(one.accesses() - 1), ranges.push_back(one.change().size());
    EpochCursor runs(&in_runs);
    for (const size_t count : {1u, 1u, 7u, 991u, 2000u}) {
        for (size_t end; (end = runs.until_epoch(count)) < count;)
            cuts.push_back(runs.accesses() + end), ranges_of_cuts.push_back(runs.change().size());
        runs.skip(count);
    }
    EXPECT_EQ(runs.accesses(), 3000u);
    EXPECT_EQ(cuts, places);
    EXPECT_EQ(ranges_of_cuts, ranges);
    std::vector<uint64_t> expected;
    for (const OsEpoch& epoch : layout.mapping->log->epochs) expected.push_back(epoch.access);
    EXPECT_EQ(places, expected);
    EXPECT_GT(places.size(), 100u);
}

}  // namespace
}  // namespace tessera::sim::testing
