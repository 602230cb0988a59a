// Kernel work in the stream: templates as text, what is woven before which block, counts by hand, and equal counts of all engines.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/woven.h"
#include "engine/weave/woven_stream.h"
#include "mmu/design.h"
#include "os/kernel_addresses.h"
#include "os/mapped_pages.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_woven.h"
#include "support/woven.h"

namespace tessera::sim::testing {
namespace {

using namespace weave;

std::string message_of(const std::string& text) {
    try {
        parse_templates(text, "t.txt");
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "";
}

TEST(Templates, AreReadAsTheyAreWritten) {
    const Templates found = parse_templates(small_text, "t.txt");
    EXPECT_EQ(found.kernel, "6.12.117");
    ASSERT_EQ(found.all.size(), 8u);
    const FaultTemplate& first = found.all[0];
    EXPECT_EQ(first.kind, "write-4kb");
    EXPECT_EQ(first.instructions(), 3u + 2 + 1 + 0 + 4 + 5);
    EXPECT_EQ(first.steps[2], (TemplateStep{1, true, true, Base::page, 0, 4096}));
    EXPECT_EQ(first.steps[0].offset, 0x1000u);
    EXPECT_TRUE(found.all[1].batch);
    EXPECT_EQ(found.all.back().tables, 1u);
}

TEST(Templates, DamageIsNamedWithItsLine) {
    const std::string good = "tessera-fault-templates 1\nkernel 6.12.1\ntemplate a 0 0\n1 l fixed 10 8\nend 0\n";
    EXPECT_EQ(message_of(good), "");
    const std::vector<std::pair<std::string, std::string>> edits = {
        {"1 l fixed", "1 q fixed"},           {"1 l fixed", "1 l nowhere"},     {"fixed 10 8", "fixed 10 65"},
        {"fixed 10 8", "fixed 10 0"},         {"fixed 10", "fixed 8000000000"}, {"fixed 10", "fixed XY"},
        {"1 l fixed 10", "1 l entry-1 1"},    {"1 l fixed", "0 l fixed"},       {"template a 0 0", "template a 5 0"},
        {"template a 0 0", "template a 0 2"}, {"template a", "template A"},     {"1 l fixed 10 8", "1 l"}};
    for (const auto& [from, to] : edits) {
        std::string bad = good;
        bad.replace(bad.find(from), from.size(), to);
        const std::string message = message_of(bad);
        EXPECT_NE(message.find("weave/template"), std::string::npos) << to;
        EXPECT_NE(message.find(", line "), std::string::npos) << to;
    }
    EXPECT_NE(message_of(good.substr(0, good.size() - 6)).find("ends inside"), std::string::npos);
    EXPECT_NE(message_of("tessera-fault-templates 2\n").find("line 1"), std::string::npos);
    EXPECT_NE(message_of("tessera-fault-templates 1\nkernel 6.12.1\n").find("no template"), std::string::npos);
    std::string old = good;
    old.replace(old.find("6.12.1"), 6, "5.15.9");
    EXPECT_NE(message_of(old).find("weave/other-kernel"), std::string::npos);
    EXPECT_NE(message_of(old).find("5.15.9"), std::string::npos);
}

TEST(CompiledTemplates, HaveTheInstructionsAndLinesOfTheText) {
    const Templates templates = parse_templates(small_text, "t.txt");
    const CompiledTemplates compiled(templates, 10);
    for (const FaultTemplate& one : templates.all) {
        const Compiled* found = compiled.find(one.kind, one.tables, one.batch);
        ASSERT_NE(found, nullptr);
        uint64_t instructions = 0, slots = 0;
        for (const Piece& piece : found->pieces) {
            const trace::StaticBlock& block = compiled.blocks()[piece.block - 10];
            EXPECT_TRUE(is_woven(block));
            EXPECT_EQ(block.slots.size(), piece.accesses);
            instructions += trace::instructions_of(block), slots += piece.accesses;
        }
        EXPECT_EQ(instructions, one.instructions()) << one.kind;
        EXPECT_EQ(slots, found->places.size()) << one.kind;
    }
    EXPECT_EQ(compiled.find("write-4kb", 0, false)->places.size(), 1u + 1 + 64 + 1 + 1);
    EXPECT_EQ(compiled.find("write-2mb", 2, false)->places.size(), 512u * 64 + 1);
    EXPECT_EQ(compiled.find("write-cow", 0, true)->places.size(), 128u + 2);  // no batch: the one without
    EXPECT_EQ(compiled.find("swap", 0, false), nullptr);
    EXPECT_EQ(compiled.find("table", 0, false), nullptr);
}

TEST(WovenStream, HasTheWorkOfAFaultBeforeItsBlock) {
    TwoFaults made;
    WovenStream woven(*made.stream, parse_templates(small_text, "t.txt"), "t.txt", made.layout.mapping);
    const size_t program = program_blocks(woven.blocks());
    EXPECT_EQ(program, made.stream->blocks().size());
    trace::Frame frame;
    ASSERT_TRUE(woven.next(frame));
    // The first fault allocates three tables below the root, each cleared as 64 lines and stored in its parent; the second none.
    const size_t ordinary = 68, table = 65;
    ASSERT_EQ(frame.addresses.size(), 3 * table + ordinary + 2 + ordinary + 1);
    std::vector<std::pair<uint64_t, size_t>> expected = {
        {kernel::of_table(20, 0), 0},         {kernel::of_table(9, 0) + 0, 64},          // 64GB lie in the first 512GB
        {kernel::of_table(30, 0), 65},        {kernel::of_table(20, 8 * 64), 65 + 64},  // and in GB 64
        {kernel::of_table(1000, 0), 130},     {kernel::of_table(30, 0), 130 + 64},     {kernel::of_own(0x1000), 195},
        {kernel::of_struct_page(77, 0), 196}, {kernel::of_page(77, 0), 197},           {kernel::of_page(77, 4032), 260},
        {kernel::of_struct_page(77, 8), 261}, {kernel::of_table(1000, 8 * 5), 262},    {anon_base + 5 * 4096 + 8, 263},
        {anon_base + 5 * 4096 + 8, 264},      {kernel::of_page(78, 64), 265 + 3},      {kernel::of_table(1000, 8 * 6), 265 + 67},
        {anon_base + 6 * 4096 + 8, 265 + 68}};
    for (const auto& [address, at] : expected) EXPECT_EQ(frame.addresses[at], address) << at;
    EXPECT_EQ(program_accesses(frame, program), 3u);
    EXPECT_EQ(woven.blocks()[frame.block_ids.front()].pc, exception_entry_pc);
    EXPECT_FALSE(woven.next(frame));
    trace::Frame again;
    woven.rewind();
    ASSERT_TRUE(woven.next(again));
    EXPECT_EQ(again.addresses.size(), 3 * table + 2 * ordinary + 3);
}

TEST(WovenStream, CountsOfTheKernelAreApart) {
    TwoFaults made;
    WovenStream woven(*made.stream, parse_templates(small_text, "t.txt"), "t.txt", made.layout.mapping);
    Platform platform = haswell();
    platform.allocator = "mapped";
    platform.exception_entry_cycles = 1000, platform.exception_exit_cycles = 2000;
    const auto with = on_all_engines(platform, woven, {made.layout})[0];
    const KernelCounts& kernel = with.kernel;
    EXPECT_EQ(kernel.instructions, 3u * (1 + 2 + 3) + 2u * 15);
    EXPECT_EQ(kernel.loads, 2u);
    EXPECT_EQ(kernel.stores, 3u * 65 + 2 * 67);
    EXPECT_EQ(with.units[0].instructions, 3u);
    EXPECT_EQ(with.units[0].accesses, 3u);
    EXPECT_EQ(with.program[0], 3u);  // the kernel has cleared the pages: the program finds them in L1D
    const auto without = on_all_engines(platform, *made.stream, {made.layout})[0];
    EXPECT_EQ(without.kernel, KernelCounts{});
    EXPECT_EQ(with.stlb_misses, without.stlb_misses);
    EXPECT_GE(kernel.cycles, 2u * 3000);
    EXPECT_GE(with.units[0].runtime_cycles, without.units[0].runtime_cycles + 2 * 3000 - 1000);
    EXPECT_LE(kernel.cycles, with.units[0].runtime_cycles);
}

/// Faults of a stream, "kind tables", and the addresses of the source that copies read first.
struct Woven {
    std::vector<std::string> faults;
    std::vector<uint64_t> sources;
};
Woven woven_of(const std::function<void(os::Writer&)>& log) {
    TwoFaults made(log);
    WovenStream woven(*made.stream, parse_templates(small_text, "t.txt"), "t.txt", made.layout.mapping);
    Woven found;
    for (trace::Frame frame; woven.next(frame);)
        for (size_t i = 0; i < frame.addresses.size(); ++i) {
            const bool begins = i == 0 || frame.addresses[i] != frame.addresses[i - 1] + 64;
            const uint64_t address = frame.addresses[i];
            if (begins && !frame.is_store[i] && address >= kernel::begin && address < kernel::tables_begin)
                found.sources.push_back(address);
        }
    for (const WovenFault& fault : woven.faults()) found.faults.push_back(fault.work->kind + " " + std::to_string(fault.tables));
    return found;
}
os::Record copy_of(uint64_t access, uint64_t page, uint64_t frame) {
    return {access, access, os::Kind::map, 3, 1, false, false, true, page, 1, frame, {}};
}

/// A store to the zero page copies zeros; one to another page copies that, and one to a page of a file that is not mapped copies the page cache.
TEST(WovenStream, ACopyIsOfWhatTheLogNames) {
    const Woven found = woven_of([](os::Writer& writer) {
        writer.add({0, 0, os::Kind::map, 2, 1, false, false, false, 5, 1, os::zero_frame, {9, 20, 30, 1000}});
        writer.add(copy_of(0, 5, 77));
        writer.add(copy_of(2, 6, 78));
        writer.add({2, 2, os::Kind::source, uint8_t(os::Source::cache), 1, false, false, false, 6, 1, 55, {}});
        writer.add(copy_of(2, 6, 79));
        writer.add({2, 2, os::Kind::source, uint8_t(os::Source::mapped), 1, false, false, false, 6, 1, 78, {}});
    });
    EXPECT_EQ(found.faults, (std::vector<std::string>{"read-zero 3", "write-zero 0", "write-private 0", "write-cow 0"}));
    EXPECT_EQ(found.sources, (std::vector{kernel::of_page(55, 0), kernel::of_page(78, 0)}));
}

/// 2MB of zeros have a frame, but a store to them copies zeros: the mapping is split, and one of the 512 zero pages is replaced.
TEST(WovenStream, AStoreToTwoMegabytesOfZerosCopiesZeros) {
    const std::string with_zeros = small_text + "template read-zero-2mb 0 0\n1 s entry-2 0 8\nend 0\n";
    TwoFaults made([](os::Writer& writer) {
        writer.add({0, 0, os::Kind::map, 2, 1, true, false, false, 0, 512, 5120, {9, 20, 30}});
        writer.add({0, 0, os::Kind::split, 0, 1, false, false, false, 0, 512, os::zero_frame, {9, 20, 30, 1000}});
        writer.add(copy_of(0, 5, 77));
        writer.add(copy_of(2, 6, 78));
    });
    WovenStream woven(*made.stream, parse_templates(with_zeros, "t.txt"), "t.txt", made.layout.mapping);
    for (trace::Frame frame; woven.next(frame);) continue;
    ASSERT_EQ(woven.faults().size(), 3u);
    EXPECT_EQ(woven.faults()[0].work->kind, "read-zero-2mb");
    for (const size_t i : {1, 2}) {
        EXPECT_EQ(woven.faults()[i].work->kind, "write-zero");
        EXPECT_EQ(woven.faults()[i].tables, 0u);  // the table of the split waited since the first fault
    }
}

/// munmap freed a table, and the next fault there gets the same frame for its table; mremap moved one, and a fault there allocates none.
TEST(WovenStream, ATableIsNewIfTheFaultNamesIt) {
    const Woven found = woven_of([](os::Writer& writer) {
        writer.add({0, 0, os::Kind::map, 1, 1, false, false, true, 5, 1, 77, {9, 20, 30, 1000}});
        writer.add({2, 2, os::Kind::unmap, 0, 1, false, false, false, 0, 512, 0, {}});
        writer.add({2, 2, os::Kind::map, 1, 1, false, false, true, 5, 1, 78, {9, 20, 30, 1000}});
        writer.add({2, 2, os::Kind::unmap, 0, 1, false, false, false, 512, 512, 0, {9, 20, 30, 1001}});
        writer.add({2, 2, os::Kind::map, 1, 1, false, false, true, 513, 1, 79, {}});
        writer.add({2, 2, os::Kind::map, 1, 1, false, false, true, 6, 1, 80, {}});
    });
    EXPECT_EQ(found.faults, (std::vector<std::string>{"write-4kb 3", "write-4kb 1", "write-4kb 0", "write-4kb 0"}));
}

TEST(WovenStream, AFaultWithoutATemplateIsNamed) {
    TwoFaults made;
    const std::string others =
        small_text.substr(0, small_text.find("template write-4kb 0 0")) + small_text.substr(small_text.find("template write-2mb"));
    WovenStream woven(*made.stream, parse_templates(others, "t.txt"), "t.txt", made.layout.mapping);
    trace::Frame frame;
    try {
        woven.next(frame);
        FAIL();
    } catch (const Refusal& refusal) {
        const std::string message = refusal.what();
        for (const char* part : {"weave/no-template", "write-4kb", "t.txt", "access 0"})
            EXPECT_NE(message.find(part), std::string::npos) << message;
    }
}

/// A log whose walks read what the templates stored, and one whose templates leave a store out.
TEST(TableCheck, FindsAStoreThatIsMissing) {
    const auto run = [](const std::string& text) {
        TwoFaults made;
        WovenStream woven(*made.stream, parse_templates(text, "t.txt"), "t.txt", made.layout.mapping);
        Platform platform = haswell();
        platform.allocator = "mapped";
        const SamplePlan plan(Sampling{}, woven.header());
        CellsRequest request{woven, plan, {{&platform, &made.layout}}};
        request.check_tables = true;
        const auto found = make_engine("partial")->run_cells(request);
        return found[0].refusal ? std::string(found[0].refusal->what()) : std::string();
    };
    EXPECT_EQ(run(small_text), "");
    const auto without = [](const std::string& line) {
        std::string text = small_text;
        return text.replace(text.find(line), line.size(), "");
    };
    const std::string leaf = run(without("4 s entry-1 0 8\n")), parent = run(without("2 s parent 0 8\n"));
    EXPECT_NE(leaf.find("entry 5 of the table in frame 1000"), std::string::npos) << leaf;
    EXPECT_NE(parent.find("entry 0 of the table in frame 9"), std::string::npos) << parent;
    EXPECT_NE(parent.find("weave/unstored-entry"), std::string::npos) << parent;
}

/// Splits, collapses and unmapped pages of a random log: no walk reads an entry that nothing stored.
TEST(TableCheck, AcceptsWorkOutsideFaults) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
        RandomWoven random(seed + 30, 1500);
        Platform platform = haswell();
        platform.allocator = "mapped";
        const SamplePlan plan(Sampling{}, random.woven.header());
        CellsRequest request{random.woven, plan, {{&platform, &random.layout}}};
        request.check_tables = true;
        const auto found = make_engine("partial")->run_cells(request);
        EXPECT_FALSE(found[0].refusal) << found[0].refusal->what();
    }
}

/// The pages of the direct map: 1GB or 2MB, and frames by hand.
TEST(KernelAddresses, AreMappedByWindows) {
    const auto page = [](uint64_t address) { return address >> 12; };
    const MappedRow gigabyte = kernel::row(page(kernel::of_page(77, 0)), PageSize::huge_1gb);
    EXPECT_EQ(gigabyte.pages, 512u * 512);
    EXPECT_EQ(gigabyte.frame, 0u);
    const MappedRow table = kernel::row(page(kernel::of_table(1000, 8)), PageSize::large_2mb);
    EXPECT_EQ((table.frame << 12) + (1000 % 512) * 4096, page_table_base + 1000 * 4096);
    EXPECT_EQ(kernel::row(page(kernel::of_own(0)), PageSize::large_2mb).frame << 12, physical::kernel_own.begin);
    const uint64_t last = physical::table_frames - 1, above = physical::table_frames;  // a frame of 128GB
    for (const PageSize size : {PageSize::large_2mb, PageSize::huge_1gb})
        for (const uint64_t frame : {last, above, (uint64_t{1} << 32) - 1}) {
            const MappedRow row = kernel::row(page(kernel::of_table(frame, 0)), size);
            EXPECT_EQ((row.frame + page(kernel::of_table(frame, 0)) - row.page) << 12, physical::logged_table(frame));
            EXPECT_EQ(kernel::table_physical(kernel::of_table(frame, 8)), physical::logged_table(frame) + 8);
        }
    EXPECT_EQ(physical::logged_table(last), page_table_base + last * 4096);
    EXPECT_EQ(physical::logged_table(above), physical::logged_above.begin);
}

class EnginesWithWovenFaults : public ::testing::TestWithParam<const char*> {};

TEST_P(EnginesWithWovenFaults, GiveEqualCounts) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomWoven random(seed + 90, 1500);
        Platform platform = haswell();
        platform.mmu_design = GetParam();
        platform.allocator = "mapped";
        if (seed % 2) platform.direct_map_mb = 2;
        const AddressSpace space(random.stream.header().pools, random.layout);
        const bool full = designs().make(platform.mmu_design, DesignContext{platform, space})->needs_caches();
        const auto counts =
            on_all_engines(platform, random.woven, {random.layout}, seed == 2 && !full ? Sampling{false, 3, 100, 100} : Sampling{});
        EXPECT_GT(counts[0].kernel.instructions, 500u);
        EXPECT_GT(counts[0].kernel.stlb_misses, 0u);
        uint64_t cycles = 0;
        for (const FaultTime& time : counts[0].kernel.faults) cycles += time.cycles;
        EXPECT_EQ(cycles, counts[0].kernel.cycles);
        EXPECT_FALSE(counts[0].kernel.faults.empty());
        if (::testing::Test::HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(All, EnginesWithWovenFaults,
                         ::testing::Values("conventional", "thp", "baseline", "rmm", "anchor", "cluster-2mb", "hvc-delayed-tlb"),
                         [](const auto& info) {
                             std::string name = info.param;
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

/// Anchors, pages of programs and large pages of the kernel in one array. The anchors' sets (tlb/recent_sets.h) count as an array
/// does that asks the policy `lru` by calls (replacement_test.cpp).
TEST(WovenStream, AnchorsHitPagesOfTheKernelAsWithAnotherArray) {
    RandomWoven random(94, 3000);
    Platform platform = haswell();
    platform.allocator = "mapped", platform.direct_map_mb = 2;
    platform.l1_4kb = {2, 1}, platform.l1_2mb = {1, 1}, platform.stlb = {16, 4};
    platform.mmu_design = {"anchor", {{"distance_pages", 8}}};
    const LayoutCounts sets = simulate("partial", platform, random.woven, {random.layout})[0];
    platform.stlb_replacement = "example-lru-by-calls";
    const LayoutCounts array = simulate("partial", platform, random.woven, {random.layout})[0];
    EXPECT_EQ(sets, array);
    EXPECT_GT(sets.kernel.stlb_hits, 100u);
}

/// Units are chosen by the program's accesses and instructions: the same with and without woven work.
TEST(WovenStream, PlansCountTheProgram) {
    RandomWoven random(7, 3000);
    Platform platform = haswell();
    platform.allocator = "mapped";
    const Sampling sampling{false, 4, 200, 150};
    const auto with = simulate("partial", platform, random.woven, {random.layout}, sampling)[0];
    const auto without = simulate("partial", platform, random.stream, {random.layout}, sampling)[0];
    ASSERT_EQ(with.units.size(), without.units.size());
    for (size_t i = 0; i < with.units.size(); ++i) {
        EXPECT_EQ(with.units[i].instructions, without.units[i].instructions) << i;
        EXPECT_EQ(with.units[i].accesses, without.units[i].accesses) << i;
    }
}

/// H and M of the plan without caches are those of the full one.
TEST(WovenStream, TlbsAloneHaveTheSameHitsAndMisses) {
    RandomWoven random(8, 2000);
    Platform platform = haswell();
    platform.allocator = "mapped";
    const auto full = simulate("partial", platform, random.woven, {random.layout})[0];
    const auto tlbs = simulate("partial", platform, random.woven, {random.layout}, Sampling{false, 0, 0, 0})[0];
    EXPECT_EQ(full.stlb_misses, tlbs.stlb_misses);
    EXPECT_EQ(full.stlb_hits, tlbs.stlb_hits);
    EXPECT_EQ(full.kernel.stlb_misses, tlbs.kernel.stlb_misses);
    EXPECT_EQ(full.kernel.stlb_hits, tlbs.kernel.stlb_hits);
    EXPECT_EQ(full.kernel.instructions, tlbs.kernel.instructions);
    EXPECT_EQ(full.kernel.stores, tlbs.kernel.stores);
}

}  // namespace
}  // namespace tessera::sim::testing
