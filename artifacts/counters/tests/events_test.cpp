#include "counters/events.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

using namespace tessera::counters;

namespace {

std::vector<Event> accepted(const std::string& text) {
    std::vector<Event> events;
    std::string error;
    EXPECT_TRUE(parse_events(text, &events, &error)) << error;
    return events;
}

std::string rejected(const std::string& text) {
    std::vector<Event> events;
    std::string error;
    EXPECT_FALSE(parse_events(text, &events, &error)) << text;
    return error;
}

TEST(Events, AllFieldsOfALine) {
    const std::vector<Event> events = accepted("# a comment\n\nmem:load_walks\t4\t0x530108\t0x3F\t0xffffffffffffffff\tu\n");
    ASSERT_EQ(events.size(), 1u);
    const Event& event = events[0];
    EXPECT_EQ(event.name, "mem:load_walks");
    EXPECT_EQ(event.type, 4u);
    EXPECT_EQ(event.config, 5439752u);  // 0x530108 = 5 * 16^5 + 3 * 16^4 + 1 * 16^2 + 8
    EXPECT_EQ(event.config1, 63u);
    EXPECT_EQ(event.config2, UINT64_MAX);
    EXPECT_TRUE(event.user);
    EXPECT_FALSE(event.kernel);
    EXPECT_EQ(event.breakpoint, 0u);
}

TEST(Events, Modifiers) {
    const std::vector<Event> events = accepted("a\t0\t0x0\t0x0\t0x0\tu\nb\t0\t0x0\t0x0\t0x0\tk\nc\t0\t0x0\t0x0\t0x0\tuk");
    ASSERT_EQ(events.size(), 3u);
    EXPECT_TRUE(events[0].user && !events[0].kernel);
    EXPECT_TRUE(!events[1].user && events[1].kernel);
    EXPECT_TRUE(events[2].user && events[2].kernel);
}

TEST(Events, TypesInBothBases) {
    const std::vector<Event> events = accepted("a\t0xa\t0x0\t0x0\t0x0\tu\nb\t4294967295\t0x0\t0x0\t0x0\tu\n");
    EXPECT_EQ(events[0].type, 10u);
    EXPECT_EQ(events[1].type, UINT32_MAX);
}

TEST(Events, Breakpoints) {
    const Event event = accepted("w\t5\t0x0\t0x10000000\t0x4\tu\t2\n")[0];
    EXPECT_EQ(event.config1, 0x10000000u);
    EXPECT_EQ(event.config2, 4u);
    EXPECT_EQ(event.breakpoint, 2u);
}

TEST(Events, TheKernelCountsSoftwareEventsAlone) {
    const auto of = [](uint32_t type) {
        Event event;
        event.type = type;
        return event.alone();
    };
    EXPECT_TRUE(of(PERF_TYPE_SOFTWARE) && of(PERF_TYPE_TRACEPOINT) && of(PERF_TYPE_BREAKPOINT));
    EXPECT_FALSE(of(PERF_TYPE_HARDWARE) || of(PERF_TYPE_HW_CACHE) || of(PERF_TYPE_RAW) || of(9));
}

TEST(Events, NoEventIsAnError) {
    rejected("");
    rejected("\n\n");
    rejected("# only a comment\n");
}

TEST(Events, TheLineIsNamed) {
    const std::string good = "a\t0\t0x0\t0x0\t0x0\tu\n";
    EXPECT_EQ(rejected("#\n" + good + "b\t0\t0x0\t0x0\tu\n").find("line 3: "), 0u);
    EXPECT_EQ(rejected(good + good).find("line 2: name 'a'"), 0u);
}

TEST(Events, MalformedFields) {
    for (const char* line : {
             "a 4 0x0 0x0 0x0 u",                        // spaces
             "\t4\t0x0\t0x0\t0x0\tu",                    // no name
             "a,b\t4\t0x0\t0x0\t0x0\tu",                 // a comma would break the counts
             "region_ns\t4\t0x0\t0x0\t0x0\tu",           // the clock's row
             "a\t\t0x0\t0x0\t0x0\tu",                    //
             "a\t-1\t0x0\t0x0\t0x0\tu",                  //
             "a\t4294967296\t0x0\t0x0\t0x0\tu",          // 2^32
             "a\t4\t12\t0x0\t0x0\tu",                    // not hexadecimal
             "a\t4\t0x\t0x0\t0x0\tu",                    //
             "a\t4\t0x10000000000000000\t0x0\t0x0\tu",   // 2^64
             "a\t4\t0xg\t0x0\t0x0\tu",                   //
             "a\t4\t0x0\t0x0\t0x0\t",                    // counts nothing
             "a\t4\t0x0\t0x0\t0x0\tku",                  //
             "a\t4\t0x0\t0x0\t0x0\tu\r",                 // of another system
             "a\t4\t0x0\t0x0\t0x0\tu\t2",                // no breakpoint
             "a\t5\t0x0\t0x0\t0x0\tu",                   // a breakpoint without its kind
             "a\t5\t0x0\t0x0\t0x0\tu\tx",                //
             "a\t4\t0x0\t0x0\t0x0\tu\t2\t3",             //
         })
        EXPECT_EQ(rejected(line).find("line 1: "), 0u) << line;
    rejected(std::string("a\0\t4\t0x0\t0x0\t0x0\tu", 18));
}

TEST(Events, AsManyAsFitAMessage) {
    std::string text;
    for (size_t i = 0; i < kMostEvents; ++i) text += "e" + std::to_string(i) + "\t4\t0x0\t0x0\t0x0\tu\n";
    EXPECT_EQ(accepted(text).size(), kMostEvents);
    rejected(text + "more\t4\t0x0\t0x0\t0x0\tu\n");
}

}  // namespace
