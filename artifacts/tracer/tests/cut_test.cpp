// cut_test.cpp - a part of a trace is the same executions, from the first one at or after the start on.
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "random_events.h"
#include "tessera/trace/areas.h"

namespace tessera::trace {
namespace {

using namespace testing;

struct Flat {
    std::vector<uint32_t> blocks;
    std::vector<uint64_t> addresses;
    std::vector<uint8_t> is_store;
    bool operator==(const Flat&) const = default;
};

Flat read_all(const std::string& path) {
    Reader reader = Reader::open(path);
    reader.verify();
    reader.seek(0);
    Flat flat;
    Frame frame;
    while (reader.next(frame)) {
        flat.blocks.insert(flat.blocks.end(), frame.block_ids.begin(), frame.block_ids.end());
        flat.addresses.insert(flat.addresses.end(), frame.addresses.begin(), frame.addresses.end());
        flat.is_store.insert(flat.is_store.end(), frame.is_store.begin(), frame.is_store.end());
    }
    return flat;
}

/// The same rule on plain vectors.
Flat expected(const Stream& stream, uint64_t start, uint64_t accesses) {
    Flat flat;
    uint64_t at = 0, written = 0;
    for (const Execution& execution : stream.executions) {
        if (at >= start && written < accesses) {
            flat.blocks.push_back(execution.block);
            flat.addresses.insert(flat.addresses.end(), execution.addresses.begin(), execution.addresses.end());
            for (uint8_t store : execution.is_store) flat.is_store.push_back(store != 0);
            written += execution.addresses.size();
        }
        at += execution.addresses.size();
    }
    return flat;
}

class Cut : public ::testing::Test {
protected:
    std::string whole = temporary_path("cut-whole"), part = temporary_path("cut-part");
    Stream stream = random_stream(7, 100'000, 12);
    uint64_t total = 0;

    void SetUp() override {
        write_stream(whole, stream);
        for (const Execution& e : stream.executions) total += e.addresses.size();
    }
    void TearDown() override {
        std::remove(whole.c_str());
        std::remove(part.c_str());
    }
};

TEST_F(Cut, HoldsTheSameExecutionsWhereverItLies) {
    for (auto [start, accesses] : {std::pair<uint64_t, uint64_t>{0, 1}, {0, total}, {1, 1000}, {total / 3, total / 3}, {total - 5, 5}}) {
        cli::cut(whole, part, start, accesses);
        EXPECT_EQ(read_all(part), expected(stream, start, accesses)) << start << " " << accesses;
    }
}

TEST_F(Cut, KeepsPoolsAndBlocksAndSaysThatTheRegionIsIncomplete) {
    Header header = plain_header();
    header.region = {true, 2, 300, 900, 5000, 9000, true};
    write_stream(whole, stream, header);
    cli::cut(whole, part, total / 2, 1000);
    EXPECT_FALSE(Reader::open(part).header().region.counted) << "windows are those of the whole trace";
    const Reader reader = Reader::open(part);
    EXPECT_EQ(reader.blocks().size(), stream.blocks.size());
    EXPECT_EQ(reader.header().program, plain_header().program);
    ASSERT_EQ(reader.header().pools.size(), 2u);
    EXPECT_EQ(reader.header().pools[1].base, 0x5000000000u);
    EXPECT_FALSE(reader.header().complete_roi);
    EXPECT_GE(reader.header().accesses, 1000u);
}

/// The events of a part are those of its executions; applied to nothing, they give the areas of the whole trace there.
TEST_F(Cut, HasTheEventsOfItsExecutions) {
    const Events events = random_events(4, 500, stream.executions.size());
    write_stream(whole, stream, events);
    for (auto [start, accesses] : {std::pair<uint64_t, uint64_t>{0, total}, {total / 3, total / 3}, {total - 5, 5}}) {
        cli::cut(whole, part, start, accesses);
        Reader reader = Reader::open(part);
        reader.verify();
        uint64_t begin = 0, at = 0;
        while (at < start) at += stream.executions[begin++].addresses.size();
        Areas areas;
        std::vector<Event> later;
        for (Event event : events.list) {
            if (event.block <= begin) areas.apply(event);
            else if (event.block < begin + reader.header().block_executions) event.block -= begin, later.push_back(event);
        }
        std::vector<Event> expected = areas.events();
        EXPECT_EQ(reader.events().at_start, expected.size());
        expected.insert(expected.end(), later.begin(), later.end());
        EXPECT_EQ(reader.events().list, expected) << start;
        EXPECT_EQ(reader.events().files, events.files);
    }
    write_stream(whole, stream);
    cli::cut(whole, part, 0, total);
    EXPECT_FALSE(Reader::open(part).has_events());
}

TEST_F(Cut, OutsideTheTraceIsRefused) {
    for (auto [start, accesses] : {std::pair<uint64_t, uint64_t>{0, 0}, {total, 1}, {total - 5, 6}, {~uint64_t{0}, 2}})
        EXPECT_THROW(cli::cut(whole, part, start, accesses), cli::UsageError) << start << " " << accesses;
}

}  // namespace
}  // namespace tessera::trace
