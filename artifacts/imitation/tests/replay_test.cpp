// Files of events, memory maps and the command line: what they do, and by which line they refuse.
#include <gtest/gtest.h>

#include "support.h"

extern "C" {
#include "cli/options.h"
#include "cli/replay.h"
}

using tests::gib;
using tests::Memory;
using tests::mib;

namespace {

struct Replay : testing::Test {
    Memory memory = Memory::pc(4 * gib);
    replay_counts counts{};
    error failure{};
    std::string output;
    bool run(const std::string &text, bool decisions = false) {
        char *printed = nullptr;
        size_t bytes = 0;
        FILE *out = open_memstream(&printed, &bytes);
        const bool done = replay_run(&memory.p, text.data(), text.size(), "e.txt", decisions, out, &counts, &failure);
        std::fclose(out);
        output.assign(printed, bytes);
        std::free(printed);
        return done;
    }
};

TEST_F(Replay, PrintsWhatEachAllocGot) {
    EXPECT_TRUE(
        run("# a comment\nalloc 7 0 Movable\nalloc 8 9 Movable\nfree 7\nalloc 7 0 Movable\n"
            "alloc 1 0 Unmovable zone=DMA32\n"))
        << failure.found;
    // Normal starts at frame 1048576. The refill of order 0 splits its first block of order 10, and order 9 takes the high half.
    EXPECT_EQ(output, "7 1048576\n8 1049088\n7 1048576\n1 4096\n");
    EXPECT_EQ(counts.allocs, 4u);
    EXPECT_EQ(counts.frees, 1u);
}

TEST_F(Replay, PrintsDecisionsUnderTheirEvent) {
    EXPECT_TRUE(run("alloc 1 4 Movable\nfree 1\n", true));
    EXPECT_EQ(output,
              "> alloc 1 4 Movable\n"
              "  take cpu=0 zone=Normal frame=1048576 order=4 type=Movable from=10\n"
              "  alloc cpu=0 zone=Normal frame=1048576 order=4 type=Movable\n"
              "1 1048576\n"
              "> free 1\n"
              "  free cpu=0 zone=Normal frame=1048576 order=4 type=Movable\n"
              "  put cpu=0 zone=Normal frame=1048576 order=10 type=Movable from=4 end=head\n");
}

TEST_F(Replay, ARefusedAllocIsNamedAndItsFreeSkipped) {
    std::string text;
    for (int i = 0; i < 1100; ++i) text += "alloc " + std::to_string(i) + " 10 Movable\n";
    EXPECT_TRUE(run(text + "free 1099\n"));
    EXPECT_NE(output.find("\n1099 none compaction\n"), std::string::npos);
    EXPECT_EQ(counts.skipped, 1u);
    EXPECT_EQ(counts.frees, 0u);
    EXPECT_GT(counts.refused, 0u);
}

TEST_F(Replay, LruDrainAndRefresh) {
    EXPECT_TRUE(run("alloc 1 0 Movable\nlru 1 on\ndrain\nrefresh\nrefresh cpu=0\ndrain cpu=0\nlru 1 off\nfree 1\n")) << failure.found;
    EXPECT_EQ(memory.p.zones[PHYS_NORMAL].percpu[0].count, 1);
    const uint32_t frame = memory.alloc(4);
    EXPECT_TRUE(run("free-frame " + std::to_string(frame) + " 4\n"));
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST_F(Replay, KswapdEndsABoost) {
    // Normal has movable blocks of order 8 only, in pageblocks whose other half is in use and not movable: a claim boosts.
    zone &normal = memory.p.zones[PHYS_NORMAL];
    std::vector<uint32_t> blocks;
    for (uint32_t frame; (frame = buddy_take(&memory.p, &normal, 8, PHYS_MOVABLE)) != PHYS_NO_FRAME;) blocks.push_back(frame);
    for (size_t i = 0; i < blocks.size(); i += 2) buddy_free_block(&memory.p, blocks[i], 8, false);
    memory.p.zones[PHYS_DMA32].boost = 512;
    EXPECT_NE(fallback_claim(&memory.p, &normal, 4, PHYS_UNMOVABLE, 0), PHYS_NO_FRAME);
    EXPECT_EQ(normal.boost, 512u);
    EXPECT_TRUE(run("kswapd zone=DMA32\n", true)) << failure.found;
    EXPECT_EQ(output, "> kswapd zone=DMA32\n  boost cpu=0 zone=DMA32 frames=0\n");
    EXPECT_EQ(normal.boost, 512u);
    EXPECT_TRUE(run("kswapd\n")) << failure.found;
    EXPECT_EQ(normal.boost, 0u);
}

TEST_F(Replay, ImpossibleEventsNameTheirLine) {
    const struct {
        const char *text, *line;
    } rows[] = {{"alloc 1 11 Movable\n", "1"},
                {"alloc 1 0 HighAtomic\n", "1"},
                {"alloc 1 0 movable\n", "1"},
                {"alloc 1 0\n", "1"},
                {"alloc 67108864 0 Movable\n", "1"},
                {"alloc 1 0 Movable cpu=1\n", "1"},
                {"alloc 1 0 Movable zone=High\n", "1"},
                {"alloc 1 0 Movable fast\n", "1"},
                {"alloc 1 0 Movable\nalloc 1 0 Movable\n", "2"},
                {"free 1\n", "1"},
                {"free\n", "1"},
                {"alloc 1 0 Movable\nfree 1 cpu=x\n", "2"},
                {"alloc 1 0 Movable\nfree-frame 1048576 0\n", "2"},
                {"free-frame 0 0\n", "1"},
                {"free-frame 1048576 11\n", "1"},
                {"lru 1 on\n", "1"},
                {"alloc 1 0 Movable\nlru 1 maybe\n", "2"},
                {"drain now\n", "1"},
                {"kswapd cpu=0\n", "1"},
                {"kswapd zone=High\n", "1"},
                {"kswapd zone=DMA zone=DMA\n", "1"},
                {"refresh cpu=1\n", "1"},
                {"reset\n", "1"},
                {"alloc 1 0 Movable", "1"}};
    for (const auto &row : rows) {
        phys_destroy(&memory.p);
        new (&memory) Memory(Memory::pc(4 * gib));
        EXPECT_FALSE(run(row.text)) << row.text;
        EXPECT_EQ(std::string(failure.asked), std::string("e.txt line ") + row.line) << row.text;
        EXPECT_NE(failure.found[0], '\0');
    }
}

struct MapRow {
    const char *text, *line;
};

TEST(MemoryMap, WholeFramesOnly) {
    const std::string text =
        "# ends in the middle of frames\nram 0x1 0x5001\nram 0x100000 0x300000\n"
        "reserved 0x1800 0x1900\nreserved 0x2ff000 0x300000\n";
    memory_map map;
    error failure{};
    ASSERT_TRUE(memory_map_parse(&map, text.data(), text.size(), "m", &failure)) << failure.found;
    ASSERT_EQ(map.ram_count, 2u);
    EXPECT_EQ(map.ram[0].first, 1u);
    EXPECT_EQ(map.ram[0].end, 5u);
    EXPECT_EQ(map.reserved[0].first, 1u);
    EXPECT_EQ(map.reserved[0].end, 2u);
    phys p;
    const phys_config config = phys_config_default();
    ASSERT_TRUE(phys_create(&p, &map, &config, &failure));
    EXPECT_EQ(p.zones[PHYS_DMA].present_frames, 4u + 512u);
    EXPECT_EQ(p.zones[PHYS_DMA].managed_frames, 4u + 512u - 2u);
    EXPECT_EQ(phys_check(&p), nullptr);
    phys_destroy(&p);
    memory_map_destroy(&map);
}

TEST(MemoryMap, RefusesByLine) {
    const MapRow rows[] = {{"", "0"},
                           {"rom 0x0 0x1000\n", "1"},
                           {"ram 0 0x1000\n", "1"},
                           {"ram 0x2000 0x1000\n", "1"},
                           {"ram 0x1000\n", "1"},
                           {"ram 0x0 0x2000\nram 0x1000 0x3000\n", "2"},
                           {"reserved 0x0 0x1000\n", "1"},
                           {"ram 0x0 0x10000000001\n", "1"},
                           {"ram 0x0 0xG\n", "1"},
                           {"ram 0x0 0x8000\nreserved 0x7000 0x9000\n", "2"},
                           {"ram 0x1 0x2\n", "1"}};
    for (const MapRow &row : rows) {
        memory_map map;
        error failure{};
        EXPECT_FALSE(memory_map_parse(&map, row.text, std::string(row.text).size(), "m", &failure)) << row.text;
        EXPECT_EQ(std::string(failure.asked), std::string("m line ") + row.line) << row.text;
        EXPECT_EQ(map.ram, nullptr);
    }
}

bool parse(std::vector<std::string> words, options *result, error *failure) {
    std::vector<char *> arguments{const_cast<char *>("tessera-phys")};
    for (std::string &word : words) arguments.push_back(word.data());
    return options_parse(result, static_cast<int>(arguments.size()), arguments.data(), failure);
}

TEST(Options, GoodOnes) {
    options result;
    error failure{};
    EXPECT_TRUE(parse({"--help"}, &result, &failure));
    EXPECT_TRUE(result.help);
    ASSERT_TRUE(parse({"show", "--memory", "4GB", "--cpus", "2", "--thp", "off"}, &result, &failure)) << failure.found;
    EXPECT_EQ(result.memory_bytes, 4 * gib);
    EXPECT_EQ(result.config.cpus, 2u);
    EXPECT_EQ(result.config.thp, PHYS_THP_OFF);
    ASSERT_TRUE(parse({"show", "--memory", "4GB", "--thp", "on"}, &result, &failure));
    EXPECT_EQ(result.config.thp, PHYS_THP_ON);
    ASSERT_TRUE(parse({"show", "--memory", "4GB"}, &result, &failure));
    EXPECT_EQ(result.config.thp, PHYS_THP_DEFAULT);
    ASSERT_TRUE(parse({"fragment", "--snapshot", "s", "--target", "300", "--index", "extfrag", "--zone", "DMA32", "--write-snapshot", "t"},
                      &result, &failure));
    EXPECT_EQ(result.goal.target, 300);
    EXPECT_EQ(result.goal.zone, PHYS_DMA32);
}

TEST(Options, RefusedOnes) {
    const std::vector<std::vector<std::string>> rows = {{},
                                                        {"run"},
                                                        {"show"},
                                                        {"show", "--memory", "4"},
                                                        {"show", "--memory", "0GB"},
                                                        {"show", "--memory", "-4GB"},
                                                        {"show", "--memory", "4TB"},
                                                        {"show", "--memory", "4GB", "--map", "m"},
                                                        {"show", "--memory"},
                                                        {"show", "--memory", "4GB", "--speed", "9"},
                                                        {"show", "--memory", "4GB", "--cpus", "65"},
                                                        {"show", "--memory", "4GB", "--cpus", "2x"},
                                                        {"show", "--memory", "4GB", "--thp", "maybe"},
                                                        {"show", "events", "--memory", "4GB"},
                                                        {"show", "--memory", "4GB", "--decisions"},
                                                        {"show", "--memory", "4GB", "--order", "3"},
                                                        {"show", "--snapshot", "s", "--cpus", "2"},
                                                        {"replay", "--memory", "4GB"},
                                                        {"replay", "a", "b", "--memory", "4GB"},
                                                        {"fragment", "--memory", "4GB"},
                                                        {"fragment", "--memory", "4GB", "--target", "5"},
                                                        {"fragment", "--memory", "4GB", "--order", "9", "--write-snapshot", "t"},
                                                        {"fragment", "--memory", "4GB", "--target", "1001", "--write-snapshot", "t"}};
    for (const auto &row : rows) {
        options result;
        error failure{};
        EXPECT_FALSE(parse(row, &result, &failure)) << testing::PrintToString(row);
        EXPECT_NE(failure.found[0], '\0');
        EXPECT_NE(std::string(failure.remedy).find("--help"), std::string::npos);
    }
}

}  // namespace
