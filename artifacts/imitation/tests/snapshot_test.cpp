// Snapshots: what is written is read, the future is the same, and every rule of the format refuses by line.
#include <gtest/gtest.h>

#include <functional>

#include "support.h"

using tests::Memory;
using tests::mib;

namespace {

bool read(phys *p, const std::string &text, error *failure) {
    return snapshot_read(p, text.data(), text.size(), "s.txt", PHYS_MOST_FRAMES, failure);
}

/// A memory with something in every kind of line.
Memory busy(uint64_t seed) {
    phys_config config = phys_config_default();
    config.cpus = 2;
    Memory memory = Memory::pc(64 * mib, config);
    std::vector<std::pair<uint32_t, unsigned>> held;
    for (int i = 0; i < 4000; ++i) {
        phys_request request = phys_request_default(random_below(&seed, 3) ? 0 : static_cast<unsigned>(random_below(&seed, 10)),
                                                    static_cast<phys_type>(random_below(&seed, 3)));
        request.cpu = static_cast<uint8_t>(random_below(&seed, 2));
        request.may_use_reserve = random_below(&seed, 2), request.may_reclaim = random_below(&seed, 2);
        const uint32_t frame = random_below(&seed, 2) ? phys_alloc(&memory.p, &request).frame : phys_alloc_attempt(&memory.p, &request);
        if (frame != PHYS_NO_FRAME) {
            held.emplace_back(frame, request.order);
            phys_set_lru(&memory.p, frame, request.type == PHYS_MOVABLE, &memory.failure);
        }
        if (held.size() > 100) {
            std::swap(held[random_below(&seed, held.size())], held.back());
            memory.release(held.back().first, held.back().second, request.cpu);
            held.pop_back();
        }
    }
    return memory;
}

/// The same events on a memory, from a seed; returns their log.
std::string future(Memory &memory, uint64_t seed) {
    memory.record();
    std::vector<uint32_t> held;
    for (int i = 0; i < 2000; ++i) {
        const uint8_t cpu = static_cast<uint8_t>(random_below(&seed, 2));
        if (random_below(&seed, 2) || held.empty()) {
            const uint32_t frame = memory.alloc(0, static_cast<phys_type>(random_below(&seed, 3)), cpu);
            if (frame != PHYS_NO_FRAME) held.push_back(frame);
        } else {
            memory.release(held.back(), 0, cpu);
            held.pop_back();
        }
    }
    return memory.log_text();
}

TEST(Snapshot, RoundTripAndTheSameFuture) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        Memory memory = busy(seed), again;
        const std::string text = memory.snapshot();
        error failure{};
        ASSERT_TRUE(read(&again.p, text, &failure)) << failure.asked << ": " << failure.found;
        ASSERT_EQ(again.snapshot(), text);
        EXPECT_EQ(future(again, seed), future(memory, seed));
        EXPECT_EQ(again.snapshot(), memory.snapshot());
    }
}

TEST(Snapshot, EveryFieldOfAZoneAndACpu) {
    for (int bits = 0; bits < 8; ++bits) {
        Memory memory = Memory::of({{8192, 8192 + 1024}}), again;
        zone &from = memory.p.zones[PHYS_DMA32];
        from.below_high = bits & 1, from.boosted = bits & 2, from.reclaim_active = bits & 4;
        from.percpu[0].freed_high_order = bits & 1, from.percpu[0].keeps_batch = bits & 2;
        from.boost = 11, from.marks[0] = 12, from.marks[1] = 13, from.marks[2] = 14, from.reserved_highatomic = 15;
        for (uint32_t i = 0; i < 3; ++i) from.lowmem_reserve[i] = 20 + i;
        from.percpu[0].high = 31, from.percpu[0].high_min = 32, from.percpu[0].high_max = 33, from.percpu[0].batch = 34;
        from.percpu[0].free_count = 35, from.percpu[0].alloc_factor = 3, from.percpu[0].drift_threshold = 37;
        from.percpu[0].free_drift = -6, from.free_frames += 6;
        memory.p.min_free_kbytes = 41, memory.p.watermark_boost_factor = 42;
        error failure{};
        ASSERT_TRUE(read(&again.p, memory.snapshot(), &failure)) << failure.found;
        const zone &to = again.p.zones[PHYS_DMA32];
        const percpu &cpu = to.percpu[0];
        EXPECT_EQ(to.below_high + 2 * to.boosted + 4 * to.reclaim_active, bits);
        EXPECT_EQ(cpu.freed_high_order + 2 * cpu.keeps_batch, bits & 3);
        EXPECT_EQ((std::vector<int64_t>{to.boost, to.marks[0], to.marks[1], to.marks[2], to.reserved_highatomic, to.lowmem_reserve[0],
                                        to.lowmem_reserve[1], to.lowmem_reserve[2], to.free_frames}),
                  (std::vector<int64_t>{11, 12, 13, 14, 15, 20, 21, 22, 1030}));
        EXPECT_EQ((std::vector<int>{cpu.high, cpu.high_min, cpu.high_max, cpu.batch, cpu.free_count, cpu.alloc_factor, cpu.drift_threshold,
                                    cpu.free_drift}),
                  (std::vector<int>{31, 32, 33, 34, 35, 3, 37, -6}));
        EXPECT_EQ(again.p.min_free_kbytes, 41u);
        EXPECT_EQ(again.p.watermark_boost_factor, 42u);
        EXPECT_EQ((std::vector<uint32_t>{to.start_frame, to.spanned_frames, to.present_frames, to.managed_frames}),
                  (std::vector<uint32_t>{8192, 1024, 1024, 1024}));
    }
}

TEST(Snapshot, ABusyMemoryHasEveryKindOfLine) {
    const std::string text = busy(2).snapshot();
    for (const char *key : {"\nreserved", "\npageblocks Unmovable", "\nzone DMA32", "\nfree DMA", "\ncpu DMA32 1", "\npercpu", "\nused 9",
                            "\nlru", "\nend\n"})
        EXPECT_EQ(text.find(key) != std::string::npos, std::string(key) != "\nreserved") << key;
}

TEST(Snapshot, FramesWithoutALineAreInUseAndCanComeBack) {
    Memory memory = Memory::of({{8192, 8192 + 1024}}), again;
    std::string text = memory.snapshot();
    const auto replace = [&](const std::string &from, const std::string &to) {
        const size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    };
    replace("free DMA32 10 Movable 8192\n", "free DMA32 9 Movable 8704\n");
    replace(" free 1024 ", " free 512 ");
    error failure{};
    ASSERT_TRUE(read(&again.p, text, &failure)) << failure.found;
    EXPECT_FALSE(again.release(8704, 9));
    EXPECT_FALSE(again.release(8192, 10));
    EXPECT_TRUE(again.release(8192, 8));
    EXPECT_TRUE(again.release(8192 + 256, 8));
    EXPECT_EQ(again.p.zones[PHYS_DMA32].blocks[10], 1u);
}

TEST(Snapshot, TheLimitOfTheReader) {
    Memory memory = Memory::of({{8192, 8192 + 1024}}), again;
    const std::string text = memory.snapshot();
    error failure{};
    EXPECT_FALSE(snapshot_read(&again.p, text.data(), text.size(), "s", 9215, &failure));
    EXPECT_TRUE(snapshot_read(&again.p, text.data(), text.size(), "s", 9216, &failure));
}

struct Row {
    const char *name, *from, *to;  // the first `from` of a good file becomes `to`
    const char *line;              // the line that the error names
};

const char *const good =
    "tessera-phys 1\ncpus 1\nmin_free_kbytes 128\nboost_factor 15000\nram 8192 1024\nreserved 8200 8\npageblocks Unmovable 16 1\n"
    "zone DMA32 min 1 low 2 high 3 boost 0 reserve 0 0 0 free 514 reserved_highatomic 0 flags -\n"
    "free DMA32 0 Unmovable 8193 8195\nfree DMA32 9 Movable 8704\n"
    "cpu DMA32 0 high 0 high_min 4 high_max 8 batch 1 free_count 0 alloc_factor 0 flags - drift 0 threshold 2\n"
    "percpu DMA32 0 0 Movable 8197\nused 1 8216 2\nlru 8216 4\nend\n";

struct Refused : testing::TestWithParam<Row> {};

TEST_P(Refused, ByLine) {
    std::string text = good;
    const size_t at = text.find(GetParam().from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string(GetParam().from).size(), GetParam().to);
    phys p;
    error failure{};
    ASSERT_FALSE(read(&p, text, &failure)) << GetParam().name;
    EXPECT_EQ(std::string(failure.asked), std::string("s.txt line ") + GetParam().line) << failure.found;
    EXPECT_NE(failure.found[0], '\0');
    EXPECT_NE(failure.remedy[0], '\0');
    EXPECT_EQ(p.frames.links, nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Refused,
    testing::ValuesIn(std::vector<Row>{
        {"version", "tessera-phys 1", "tessera-phys 2", "1"},
        {"no_version", "tessera-phys 1\n", "", "1"},
        {"cpus_0", "cpus 1", "cpus 0", "2"},
        {"cpus_65", "cpus 1", "cpus 65", "2"},
        {"missing_cpus", "cpus 1\n", "", "2"},
        {"twice", "cpus 1\n", "cpus 1\ncpus 1\n", "3"},
        {"leading_zero", "cpus 1", "cpus 01", "2"},
        {"two_spaces", "cpus 1", "cpus  1", "2"},
        {"tab", "cpus 1", "cpus\t1", "2"},
        {"carriage_return", "cpus 1\n", "cpus 1\r\n", "2"},
        {"unknown_word", "used", "spent", "13"},
        {"order_of_lines", "ram 8192 1024\nreserved 8200 8\n", "reserved 8200 8\nram 8192 1024\n", "5"},
        {"no_ram", "ram 8192 1024\nreserved 8200 8\n", "", "5"},
        {"ram_overlaps", "ram 8192 1024\n", "ram 8192 1024\nram 9215 10\n", "6"},
        {"ram_adjacent", "ram 8192 1024\n", "ram 8192 512\nram 8704 512\n", "6"},
        {"ram_above_limit", "ram 8192 1024", "ram 8192 268435456", "5"},
        {"reserved_outside", "reserved 8200 8", "reserved 9212 8", "6"},
        {"movable_run", "pageblocks Unmovable", "pageblocks Movable", "7"},
        {"unknown_type", "pageblocks Unmovable", "pageblocks CMA", "7"},
        {"pageblock_outside", "pageblocks Unmovable 16 1", "pageblocks Unmovable 16 3", "7"},
        {"adjacent_runs", "pageblocks Unmovable 16 1\n", "pageblocks Unmovable 16 1\npageblocks Unmovable 17 1\n", "8"},
        {"zone_without_memory", "zone DMA32", "zone Normal", "8"},
        {"zone_twice", "free DMA32 0",
         "zone DMA32 min 1 low 2 high 3 boost 0 reserve 0 0 0 free 514 reserved_highatomic 0 flags -\n"
         "free DMA32 0",
         "9"},
        {"bad_flag", "flags -\nfree", "flags low\nfree", "8"},
        {"flags_out_of_order", "flags -\nfree", "flags boosted,below_high\nfree", "8"},
        {"free_count_wrong", "free 514", "free 513", "15"},
        {"negative_mark", "min 1 low", "min -1 low", "8"},
        {"minus_zero", "drift 0", "drift -0", "11"},
        {"unaligned", "9 Movable 8704", "9 Movable 8705", "10"},
        {"wrong_list", "free DMA32 9 Movable", "free DMA32 9 Unmovable", "10"},
        {"twice_on_lists", "8193 8195", "8193 8193", "9"},
        {"free_and_percpu", "percpu DMA32 0 0 Movable 8197", "percpu DMA32 0 0 Movable 8195", "12"},
        {"inside_another_block", "0 Movable 8197", "0 Movable 8705", "15"},
        {"order_11", "free DMA32 9", "free DMA32 11", "10"},
        {"another_zone", "0 Unmovable 8193", "0 Unmovable 100", "9"},
        {"reserved_frame", "8193 8195", "8193 8200", "15"},
        {"high_min_above_max", "high_min 4", "high_min 9", "11"},
        {"batch_0", "batch 1", "batch 0", "11"},
        {"factor_6", "alloc_factor 0", "alloc_factor 6", "11"},
        {"cpu_1", "cpu DMA32 0", "cpu DMA32 1", "11"},
        {"no_cpu_line", "cpu DMA32 0 high 0 high_min 4 high_max 8 batch 1 free_count 0 alloc_factor 0 flags - drift 0 threshold 2\n", "",
         "14"},
        {"drift_126", "drift 0", "drift 126", "11"},
        {"percpu_order_4", "percpu DMA32 0 0 Movable 8197", "percpu DMA32 0 4 Movable 8720", "12"},
        {"used_overlaps", "used 1 8216 2", "used 1 8194 1", "15"},
        {"used_outside", "used 1 8216 2", "used 1 9214 2", "13"},
        {"lru_of_a_free_frame", "lru 8216 4", "lru 8195 1", "15"},
        {"lru_of_a_hole", "lru 8216 4", "lru 100 1", "14"},
        {"lru_overlaps", "lru 8216 4\n", "lru 8216 4\nlru 8219 2\n", "15"},
        {"no_end", "end\n", "", "14"},
        {"no_last_newline", "end\n", "end", "15"},
        {"after_end", "end\n", "end\nend\n", "16"},
    }),
    [](const auto &info) { return std::string(info.param.name); });

TEST(Snapshot, TheGoodFileOfTheTableIsGood) {
    Memory memory;
    error failure{};
    ASSERT_TRUE(read(&memory.p, good, &failure)) << failure.asked << failure.found;
    EXPECT_EQ(memory.snapshot(), good);
}

}  // namespace
