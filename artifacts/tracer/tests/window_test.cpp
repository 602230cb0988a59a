// Windows: what a full window leaves out, where the next one begins, and what joins the two.
#include <gtest/gtest.h>

#include <fstream>

#include "plugin/event_buffers.h"
#include "plugin/registers.h"
#include "plugin/settings.h"
#include "plugin/stream_builder.h"
#include "streams.h"

namespace tessera::tracer::testing {
namespace {

using trace::testing::temporary_path;

Event load(uint64_t address) { return access_tag(load_tag, 3) | address; }
Event store(uint64_t address) { return access_tag(store_tag, 3) | address; }

TranslatedBlock block(uint32_t number, uint64_t pc, std::vector<uint8_t> insn) {
    TranslatedBlock out;
    out.pc = pc;
    out.number = number;
    out.insn_bytes = {static_cast<uint8_t>(insn.size())};
    out.bytes = std::move(insn);
    return out;
}

TranslatedBlock mark() {
    TranslatedBlock out;
    out.begins_window = true;
    return out;
}

struct Built {
    trace::Frame frame;
    std::vector<trace::StaticBlock> blocks;
    uint64_t full_windows = 0;
    bool more = true;  ///< the last window was not full
};

/// Builds from several buffers of events.
Built build(std::vector<std::vector<Event>> buffers, uint64_t window_accesses, uint64_t windows) {
    const std::string path = temporary_path("window");
    Built out;
    trace::Writer writer = trace::Writer::create(path);
    StreamBuilder builder(writer, window_accesses, windows);
    for (auto& events : buffers) {
        events.push_back(0);  // room for the sentinel
        if (out.more) out.more = builder.add(events.data(), events.data() + events.size() - 1);
    }
    out.full_windows = builder.full_windows();
    writer.finish({});
    trace::Reader reader = trace::Reader::open(path);
    reader.next(out.frame);
    out.blocks = reader.blocks();
    std::remove(path.c_str());
    return out;
}

const TranslatedBlock loads = block(0, 0x1000, {0x48, 0x8b, 0x06}), jumps = block(1, 0x2000, {0x75, 0x00}), next = mark();
const TranslatedBlock strings = block(2, 0x3000, {0xf3, 0x48, 0xab});  // rep stosq

void add(std::vector<Event>& events, std::initializer_list<uint64_t> addresses) {
    for (const uint64_t address : addresses) events.insert(events.end(), {block_event(&loads), load(address)});
}

TEST(Windows, EachHasItsAccessesAndWhatFollowsUpToTheMarkIsLeftOut) {
    std::vector<Event> first, second, third;
    add(first, {64, 128, 192, 256});
    add(second, {320});
    second.push_back(block_event(&next));
    add(second, {1024, 1088, 1152});
    third.push_back(block_event(&next));
    add(third, {2048});
    const Built built = build({first, second, third}, 2, 3);
    EXPECT_EQ(built.frame.addresses, (std::vector<uint64_t>{64, 128, 1024, 1088, 2048}));
    EXPECT_EQ(built.full_windows, 2u);
    EXPECT_TRUE(built.more);
}

TEST(Windows, TheLastFullWindowEndsTheRecording) {
    std::vector<Event> events;
    add(events, {64, 128});
    events.push_back(block_event(&next));
    add(events, {256, 320});
    const Built built = build({events}, 1, 2);
    EXPECT_EQ(built.frame.addresses, (std::vector<uint64_t>{64, 256}));
    EXPECT_FALSE(built.more);
}

TEST(Windows, AnExactlyFilledWindowIsFullAtTheNextExecution) {
    std::vector<Event> events;
    add(events, {64, 128});
    EXPECT_EQ(build({events}, 2, 2).full_windows, 0u);
}

// The outcome of the last branch is the pc of the next block. No register of the window before is a source of the next one.
TEST(Windows, AreJoinedByTheBlockThatFollowedAndSetsAllRegisters) {
    std::vector<Event> events;
    add(events, {64});
    events.push_back(block_event(&jumps));
    events.insert(events.end(), {block_event(&strings), store(512)});
    events.push_back(block_event(&next));
    add(events, {1024});
    const Built built = build({events}, 1, 2);
    ASSERT_EQ(built.frame.block_ids, (std::vector<uint32_t>{0, 1, 2, 0}));
    const trace::StaticBlock& bridge = built.blocks[2];
    EXPECT_EQ(bridge.pc, strings.pc);
    ASSERT_EQ(bridge.insns.size(), 1u);
    EXPECT_TRUE(bridge.slots.empty());
    EXPECT_EQ(bridge.insns[0].reads, 0u);
    EXPECT_EQ(bridge.insns[0].branch, trace::BranchKind::none);
    for (const unsigned reg : {X86_REG_RAX, X86_REG_RSP, X86_REG_R15, X86_REG_EFLAGS, X86_REG_XMM0, X86_REG_YMM15})
        EXPECT_EQ(bridge.insns[0].writes & register_bit(reg), register_bit(reg)) << reg;
    EXPECT_EQ(bridge.insns[0].early_writes, bridge.insns[0].writes);
}

// In the gap the string may have ended and another one may have begun.
TEST(Windows, AStringBeginsAnewBehindAGap) {
    std::vector<Event> events;
    for (const uint64_t address : {64, 128}) events.insert(events.end(), {block_event(&strings), store(address)});
    events.push_back(block_event(&next));
    for (const uint64_t address : {136, 192}) events.insert(events.end(), {block_event(&strings), store(address)});
    const Built built = build({events}, 1, 3);
    ASSERT_EQ(built.frame.addresses, (std::vector<uint64_t>{64, 136}));
    const auto part = [&](size_t execution) { return built.blocks[built.frame.block_ids[execution]].insns[0].string; };
    EXPECT_EQ(part(0), trace::StringPart::begin);
    EXPECT_EQ(part(2), trace::StringPart::begin);
}

struct Lines {
    std::string text, found;
};

class WindowSettings : public ::testing::TestWithParam<Lines> {};

TEST_P(WindowSettings, ThatCannotWorkAreRefused) {
    const std::string path = temporary_path("settings");
    std::ofstream(path) << "out=t\n" << GetParam().text;
    try {
        read_settings(path);
        FAIL() << GetParam().text;
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find(GetParam().found), std::string::npos) << error.what();
    }
    std::remove(path.c_str());
}

const std::string gap = std::to_string(min_gap_accesses), short_gap = std::to_string(min_gap_accesses - 1);

INSTANTIATE_TEST_SUITE_P(Rules, WindowSettings,
                         ::testing::Values(Lines{"windows=2\nwindow_accesses=5\ngap_accesses=" + gap + "\n", "count_region=1"},
                                           Lines{"count_region=1\nwindows=2\nwindow_accesses=5\ngap_accesses=" + short_gap + "\n", gap},
                                           Lines{"count_region=1\nwindows=2\ngap_accesses=" + gap + "\n", "window_accesses"},
                                           Lines{"count_region=1\nthreads=1\n", "one thread"},
                                           Lines{"count_region=1\nroi=switch:x\n", "roi=switch"}, Lines{"windows=two\n", "windows=two"},
                                           Lines{"count_region=2\n", "count_region=2"}));

TEST(WindowSettings, TheShortestGapIsAccepted) {
    const std::string path = temporary_path("settings");
    std::ofstream(path) << "out=t\ncount_region=1\nwindows=2\nwindow_accesses=1\ngap_accesses=" << gap << '\n';
    const Settings settings = read_settings(path);
    EXPECT_EQ(settings.windows, 2u);
    EXPECT_EQ(settings.gap_accesses, min_gap_accesses);
    std::remove(path.c_str());
}

}  // namespace
}  // namespace tessera::tracer::testing
