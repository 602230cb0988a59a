// The section of events: what is written is read, with or without it; broken rules and damage are refused.
#include <gtest/gtest.h>

#include <functional>

#include "lib/container.h"
#include "random_events.h"

namespace tessera::trace::testing {
namespace {

class EventSection : public ::testing::Test {
protected:
    void TearDown() override { std::remove(path.c_str()); }
    std::string path = temporary_path(::testing::UnitTest::GetInstance()->current_test_info()->name());
    Stream stream = random_stream(3, 2000, 9);
};

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const TraceError& error) {
        return error.what();
    }
    return {};
}

TEST_F(EventSection, AnyListComesBack) {
    for (uint64_t seed = 0; seed < 60; ++seed) {
        const Events events = random_events(seed, seed * 7, 2000);
        write_stream(path, stream, events);
        Reader reader = Reader::open(path);
        reader.verify();
        ASSERT_TRUE(reader.has_events());
        EXPECT_EQ(reader.events(), events) << seed;
    }
}

TEST_F(EventSection, TheSmallestEventsAreSmall) {
    Events events;
    for (uint64_t i = 0; i < 1000; ++i)
        events.list.push_back({i, EventKind::map, EventPool::anon, EventPool::heap, i * page, page, 0, 0, 3, 0x22, 0, 0});
    EXPECT_LT(events_to_text(events).size(), 1000 * 16u);
}

TEST_F(EventSection, WithoutItAFileIsAsBefore) {
    write_stream(path, stream);
    const std::string plain = read_bytes(path);
    EXPECT_EQ(plain.find("\nevents="), std::string::npos);
    const Reader reader = Reader::open(path);
    EXPECT_FALSE(reader.has_events());
    const std::string message = message_of([&] { reader.events(); });
    for (const std::string& part : {path, std::string("--events --roi whole")}) EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(EventSection, ItBelongsToTheChecksum) {
    write_stream(path, stream);
    const std::string without = Reader::open(path).header().checksum;
    write_stream(path, stream, Events{});
    const std::string empty = Reader::open(path).header().checksum;
    Events events = random_events(5, 40, 2000);
    write_stream(path, stream, events);
    const std::string some = Reader::open(path).header().checksum;
    events.list.back().flags ^= events.list.back().kind == EventKind::map ? 0x20 : 0;
    events.file_pool_base += 4096;
    write_stream(path, stream, events);
    const std::string other = Reader::open(path).header().checksum;
    EXPECT_EQ((std::set<std::string>{without, empty, some, other}).size(), 4u);
}

TEST_F(EventSection, PositionsAreExecutionsSoFar) {
    Writer writer = Writer::create(path);
    for (const StaticBlock& block : stream.blocks) writer.add_block(block);
    for (size_t i = 0; i < 300; ++i) {
        EXPECT_EQ(writer.block_executions(), i);
        writer.append(0, nullptr, nullptr, 0);
    }
    writer.finish(plain_header());
}

TEST_F(EventSection, BrokenRulesAreRefusedWhenWritten) {
    const Event good{7, EventKind::map, EventPool::anon, EventPool::heap, page, page, 0, 0, 3, 0x22, 0, 0};
    const struct {
        const char* name;
        std::function<void(Events&)> breaks;
    } rules[] = {
        {"behind the end", [](Events& e) { e.list[1].block = 2001; }},
        {"before the block", [](Events& e) { e.list[1].block = 6; }},
        {"its block is not 0", [](Events& e) { e.at_start = 1; }},
        {"more events", [](Events& e) { e.at_start = 3; }},
        {"behind the pool mmap", [](Events& e) { e.list[1].offset_bytes = 1u << 30; }},
        {"behind the pool file", [](Events& e) { e.list[1].pool = EventPool::file; }},
        {"4KB pages", [](Events& e) { e.list[1].length_bytes = 100; }},
        {"4KB pages", [](Events& e) { e.list[1].offset_bytes = 100; }},
        {"address space",
         [](Events& e) {
             e.list[1].pool = EventPool::outside, e.list[1].offset_bytes = ~uint64_t{0} - 4095, e.list[1].length_bytes = 8192;
         }},
        {"empty", [](Events& e) { e.list[1].length_bytes = 0; }},
        {"a file", [](Events& e) { e.list[1].file = 1; }},
        {"no file", [](Events& e) { e.list[1].file_offset_bytes = 4096; }},
        {"new range", [](Events& e) { e.list[1].new_length_bytes = 4096; }},
        {"new range is empty",
         [](Events& e) { e.list[1] = {7, EventKind::remap, EventPool::anon, EventPool::anon, 0, page, 0, 0, 0, 1, 0, 0}; }},
        {"offset 0", [](Events& e) { e.list[1] = {7, EventKind::brk, EventPool::anon, EventPool::heap, 0, 5, 0, 0, 0, 0, 0, 0}; }},
        {"behind the pool brk",
         [](Events& e) { e.list[1] = {7, EventKind::brk, EventPool::heap, EventPool::heap, 0, (1u << 30) + 1, 0, 0, 0, 0, 0, 0}; }},
        {"protection", [](Events& e) { e.list[1].kind = EventKind::lock; }},
        {"no flags", [](Events& e) { e.list[1].kind = EventKind::unlock, e.list[1].protection = 0; }},
    };
    for (const auto& rule : rules) {
        Events events;
        events.list = {good, good};
        EXPECT_EQ(message_of([&] { write_stream(path, stream, events); }), "");
        rule.breaks(events);
        const std::string message = message_of([&] { write_stream(path, stream, events); });
        EXPECT_NE(message.find(rule.name), std::string::npos) << rule.name << ": " << message;
        EXPECT_NE(message.find("event"), std::string::npos) << message;
    }
}

TEST_F(EventSection, EachFlippedBitAndEachOtherLengthIsRefused) {
    write_stream(path, stream, random_events(9, 100, 2000));
    const std::string bytes = read_bytes(path);
    const auto refused = [&](const std::string& damaged) {
        write_bytes(path, damaged);
        return !message_of([&] { Reader::open(path).verify(); }).empty();
    };
    const size_t tail = bytes.rfind("program=");
    ASSERT_NE(tail, std::string::npos);
    for (size_t at = tail; at < bytes.size(); at += 1 + at % 3) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
        EXPECT_TRUE(refused(damaged)) << "bit flipped in byte " << at;
    }
    for (const size_t size : {bytes.size() - 1, bytes.size() - 200, tail + 10}) EXPECT_TRUE(refused(bytes.substr(0, size))) << size;
    EXPECT_TRUE(refused(bytes + 'x'));
}

TEST(EventText, CutTextIsMalformed) {
    const std::string text = events_to_text(random_events(2, 30, 100));
    Events back;
    ASSERT_TRUE(events_from_text(text, back));
    for (size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(events_from_text(text.substr(0, size), back)) << size;
    EXPECT_FALSE(events_from_text(text + '\0', back));
}

TEST(EventText, SizesInTheHeaderAreNumbers) {
    Header header, back;
    const std::string text = header_to_text(header, EventSizes{3, 40, 90});
    std::optional<EventSizes> sizes;
    ASSERT_EQ(header_from_text(text, back, sizes), "");
    ASSERT_TRUE(sizes);
    EXPECT_EQ(sizes->count, 3u);
    EXPECT_EQ(sizes->stored_bytes, 40u);
    EXPECT_EQ(sizes->text_bytes, 90u);
    EXPECT_EQ(event_bytes_of(text), 40u);
    EXPECT_EQ(event_bytes_of(header_to_text(header)), 0u);
}

}  // namespace
}  // namespace tessera::trace::testing
