// unwritten_lines_test.cpp - the table of lines from memory: 64 lanes in one table are 64 tables of one lane, each of which is
// one line a slot.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/unwritten_lines.h"

namespace tessera::sim::testing {
namespace {

/// One lane, as the text says it: slot -> line.
struct OneLane {
    std::map<uint64_t, uint64_t> slots;
    void came(uint64_t line) { slots[line % 4096] = line; }
    bool written(uint64_t line) {
        const auto found = slots.find(line % 4096);
        if (found == slots.end() || found->second != line) return false;
        slots.erase(found);
        return true;
    }
};

TEST(UnwrittenLines, EachLaneIsATableOfItsOwn) {
    std::mt19937_64 random(41);
    UnwrittenLines table, alone;
    std::vector<OneLane> lanes(64);
    uint64_t found = 0;
    for (int i = 0; i < 200000; ++i) {
        const uint64_t line = random() % 6 + random() % 5 * 4096;  // five lines for each of six slots
        if (random() % 3 == 0) {
            uint64_t expected = 0;
            for (unsigned lane = 0; lane < 64; ++lane) expected |= uint64_t{lanes[lane].written(line)} << lane;
            ASSERT_EQ(table.written(line), expected) << "step " << i;
            ASSERT_EQ(alone.written(line), expected & 1);
            found += expected != 0;
        } else {
            const uint64_t in = random() % 2 ? ~uint64_t{0} : random() & random();
            for (unsigned lane = 0; lane < 64; ++lane)
                if (in >> lane & 1) lanes[lane].came(line);
            table.came(line, in);
            if (in & 1) alone.came(line, 1);
        }
    }
    EXPECT_GT(found, 10000u);
    table.clear();
    for (uint64_t line = 0; line < 5 * 4096; ++line) ASSERT_EQ(table.written(line), 0u);
}

}  // namespace
}  // namespace tessera::sim::testing
