// Events of a running program become block executions: parts merged, atomics divided, sizes kept, patterns learnt, the limit kept.
#include <gtest/gtest.h>

#include "plugin/settings.h"
#include "plugin/kernel_blocks.h"
#include "plugin/stream_builder.h"
#include "streams.h"
#include "tessera/trace/crossing.h"

namespace tessera::tracer::testing {
namespace {

using trace::testing::temporary_path;

Event load(uint32_t insn, uint64_t address, int shift = 3) { return insn_tag(insn) | access_tag(load_tag, shift) | address; }
Event store(uint32_t insn, uint64_t address, int shift = 3) { return insn_tag(insn) | access_tag(store_tag, shift) | address; }
Event atomic(uint32_t insn, uint64_t address, int shift = 3) { return insn_tag(insn) | access_tag(load_tag | store_tag, shift) | address; }

class Builder : public ::testing::Test {
protected:
    TranslatedBlock block(std::vector<std::vector<uint8_t>> insns) {
        TranslatedBlock out;
        out.pc = 0x1000 * (next_ + 1);
        out.number = next_++;
        for (const auto& insn : insns) {
            out.bytes.insert(out.bytes.end(), insn.begin(), insn.end());
            out.insn_bytes.push_back(static_cast<uint8_t>(insn.size()));
        }
        return out;
    }
    trace::Frame run(std::vector<Event> events, uint64_t limit = 0, bool complete = true) {
        trace::Writer writer = trace::Writer::create(path);
        StreamBuilder builder(writer, limit);
        events.push_back(0);  // room for the sentinel
        EXPECT_EQ(builder.add(events.data(), events.data() + events.size() - 1), complete);
        writer.finish({});
        trace::Reader reader = trace::Reader::open(path);
        trace::Frame frame;
        reader.next(frame);
        blocks = reader.blocks();
        std::remove(path.c_str());
        return frame;
    }
    std::vector<int> sizes() const {
        std::vector<int> found;
        for (const trace::MemorySlot& slot : blocks.at(0).slots) found.push_back(slot.size_bytes);
        return found;
    }
    /// The bytes of each access of the frame, by the slots of its blocks.
    std::vector<uint64_t> bytes_in(const trace::Frame& frame) const {
        std::vector<uint64_t> found;
        for (size_t e = 0; e < frame.block_ids.size(); ++e)
            for (size_t i = 0; i < frame.access_counts[e]; ++i) found.push_back(trace::bytes_that_cross(blocks.at(frame.block_ids[e]), i));
        return found;
    }
    uint32_t next_ = 0;
    std::string path = temporary_path("builder");
    std::vector<trace::StaticBlock> blocks;
};

const std::vector<uint8_t> load_ymm = {0xc5, 0xfc, 0x10, 0x1e};       // vmovups ymm3, [rsi]
const std::vector<uint8_t> gather = {0xc4, 0xe2, 0x75, 0x90, 0x04, 0x90};  // vpgatherdd ymm0, [rax + ymm2*4], ymm1
const std::vector<uint8_t> load_rax = {0x48, 0x8b, 0x06};             // mov rax, [rsi]
const std::vector<uint8_t> add_memory = {0x48, 0x01, 0x06};           // add [rsi], rax
const std::vector<uint8_t> lock_xadd = {0xf0, 0x48, 0x0f, 0xc1, 0x06};             // lock xadd [rsi], rax
const std::vector<uint8_t> lock_cmpxchg16b = {0xf0, 0x48, 0x0f, 0xc7, 0x0e};       // lock cmpxchg16b [rsi]
const std::vector<uint8_t> load_x87 = {0xdb, 0x2e};                                // fld tbyte ptr [rsi]
const std::vector<uint8_t> masked_store = {0xc4, 0xe2, 0x75, 0x8e, 0x06};          // vpmaskmovd [rsi], ymm1, ymm0
const std::vector<uint8_t> push_rax = {0x50};
const std::vector<uint8_t> rep_cmpsb = {0xf3, 0xa6}, rep_movsb = {0xf3, 0xa4}, rep_stosq = {0xf3, 0x48, 0xab};

TEST_F(Builder, PartsOfOneVectorAreOneAccess) {
    const TranslatedBlock b = block({load_ymm, load_rax});
    const auto frame = run({block_event(&b), load(0, 64), load(0, 72), load(0, 80), load(0, 88), load(1, 96)});
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{64, 96}));
    ASSERT_EQ(blocks.size(), 1u);
    ASSERT_EQ(blocks[0].slots.size(), 2u);
    EXPECT_EQ(blocks[0].slots[0].size_bytes, 32);
    EXPECT_EQ(blocks[0].slots[1].size_bytes, 8);
    EXPECT_EQ(blocks[0].insns[0].kind, trace::InsnKind::load);
}

TEST_F(Builder, NeighboursOfDifferentInstructionsStayApart) {
    const TranslatedBlock b = block({load_rax, load_rax});
    EXPECT_EQ(run({block_event(&b), load(0, 64), load(1, 72)}).addresses.size(), 2u);
}

TEST_F(Builder, ReadModifyWriteIsTwoSlots) {
    const TranslatedBlock b = block({add_memory});
    const auto frame = run({block_event(&b), load(0, 64), store(0, 64)});
    EXPECT_EQ(frame.is_store, (std::vector<uint8_t>{0, 1}));
    EXPECT_EQ(blocks[0].insns[0].kind, trace::InsnKind::load_store);
    EXPECT_EQ(blocks[0].insns[0].memory_slots, 2);
}

/// QEMU runs an atomic instruction as one access with both directions.
TEST_F(Builder, AnAtomicInstructionLoadsAndThenStores) {
    const TranslatedBlock b = block({load_rax, lock_xadd, lock_cmpxchg16b});
    const auto frame = run(
        {block_event(&b), load(0, 64), atomic(1, 128), atomic(2, 256, 4), block_event(&b), load(0, 72), atomic(1, 136), atomic(2, 272, 4)});
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{64, 128, 128, 256, 256, 72, 136, 136, 272, 272}));
    EXPECT_EQ(frame.is_store, (std::vector<uint8_t>{0, 0, 1, 0, 1, 0, 0, 1, 0, 1}));
    ASSERT_EQ(blocks.size(), 1u);
    EXPECT_EQ(sizes(), (std::vector<int>{8, 8, 8, 16, 16}));
    EXPECT_EQ(blocks[0].insns[1].kind, trace::InsnKind::load_store);
    EXPECT_EQ(blocks[0].insns[1].memory_slots, 2);
    EXPECT_EQ(blocks[0].insns[2].memory_slots, 2);
}

TEST_F(Builder, AtomicInstructionsOfIrregularExecutionsLoadAndStore) {
    const TranslatedBlock b = block({rep_cmpsb, lock_xadd});
    std::vector<Event> events;
    std::vector<uint64_t> bytes;
    const uint64_t regular = 127;  // patterns of n + 2 slots, until there are 8192
    for (uint64_t n = 0; n < 140; ++n) {
        events.push_back(block_event(&b));
        for (uint64_t i = 0; i < n; ++i) events.push_back(load(0, 1000 * n + 16 * i, 0)), bytes.push_back(1);
        events.push_back(atomic(1, 64 * n));
        bytes.insert(bytes.end(), 2, n < regular ? 8 : 1);
    }
    const auto frame = run(events);
    EXPECT_EQ(frame.access_counts.back(), 139 + 2);
    EXPECT_EQ((std::vector<uint64_t>{frame.addresses.end() - 2, frame.addresses.end()}), (std::vector<uint64_t>{64 * 139, 64 * 139}));
    EXPECT_EQ((std::vector<uint8_t>{frame.is_store.end() - 2, frame.is_store.end()}), (std::vector<uint8_t>{0, 1}));
    EXPECT_EQ(bytes_in(frame), bytes);
}

/// Each execution of some gathers with 0 to 8 elements and a vector load that crosses a page, in order of the numbers of elements.
struct Gathers {
    Gathers(const TranslatedBlock& block, size_t gathers) {
        size_t patterns = 1;
        for (size_t g = 0; g < gathers; ++g) patterns *= 9;
        for (size_t p = 0, rest = 0; p < patterns; ++p) {
            events.push_back(block_event(&block));
            rest = p;
            for (uint32_t g = 0; g < gathers; ++g, rest /= 9)
                for (uint64_t i = 0; i < rest % 9; ++i) add(load(g, 0x100000 * (g + 1) + 8192 * i + 4092, 2), 4, p);
            const uint64_t at = 0x900000 + 4096 * p + 4080;
            for (uint64_t i = 0; i < 4; ++i) events.push_back(load(static_cast<uint32_t>(gathers), at + 8 * i));
            addresses.push_back(at), bytes.push_back(32), pattern.push_back(p);
        }
    }
    void add(Event event, uint64_t size, size_t p) {
        events.push_back(event), addresses.push_back(event & address_mask), bytes.push_back(size), pattern.push_back(p);
    }
    std::vector<Event> events;
    std::vector<uint64_t> addresses, bytes;  ///< of each access
    std::vector<size_t> pattern;
};

TEST_F(Builder, AllPatternsOfTwoGathersKeepTheirSizes) {
    const TranslatedBlock b = block({gather, gather, load_ymm});
    const Gathers gathers(b, 2);
    std::vector<Event> twice = gathers.events;
    twice.insert(twice.end(), gathers.events.begin(), gathers.events.end());
    EXPECT_EQ(run(twice).block_ids.size(), 2 * 81u);
    EXPECT_EQ(blocks.size(), 81u);
    const auto frame = run(gathers.events);
    EXPECT_EQ(frame.addresses, gathers.addresses);
    EXPECT_EQ(bytes_in(frame), gathers.bytes);
}

/// An access whose slot is not known has a size that never crosses a page; those before keep theirs.
TEST_F(Builder, BehindTheMostPatternsNoAccessCrosses) {
    const TranslatedBlock b = block({gather, gather, gather, load_ymm});
    const Gathers gathers(b, 3);
    const auto frame = run(gathers.events);
    EXPECT_EQ(frame.addresses, gathers.addresses);
    EXPECT_EQ(blocks.size(), 129u) << "one for all others";
    EXPECT_EQ(blocks.back().slots.size(), blocks[80].slots.size()) << "as many slots as the widest has";
    std::vector<uint64_t> expected = gathers.bytes;
    for (size_t i = 0; i < expected.size(); ++i)
        if (gathers.pattern[i] >= 128) expected[i] = 1;
    EXPECT_EQ(bytes_in(frame), expected);
}

/// Long patterns fill the table earlier.
TEST_F(Builder, PatternsOfABlockHaveALimitedNumberOfSlots) {
    const TranslatedBlock b = block({rep_cmpsb});
    std::vector<Event> events;
    for (uint64_t n = 0; n < 100; ++n) {
        events.push_back(block_event(&b));
        for (uint64_t i = 0; i < 1000 + n; ++i) events.push_back(load(0, 1000 * n + 16 * i));
    }
    EXPECT_EQ(run(events).addresses.size(), 100 * 1000u + 99 * 50);
    EXPECT_EQ(blocks.size(), 9u + 1) << "the ninth one exceeds 8192 slots";
    EXPECT_EQ(blocks.back().slots.at(0).size_bytes, 1);
}

/// Whether the access crosses a page or not, and whether the disassembler knows the operand or not (push).
TEST_F(Builder, SlotsHaveTheSizesOfTheirAccesses) {
    const TranslatedBlock b = block({load_rax, load_rax, load_rax, load_rax, push_rax, load_x87, load_ymm});
    run({block_event(&b), load(0, 4095, 0), load(1, 4095, 1), load(2, 4093, 2), load(3, 4089, 3), store(4, 4092, 3), load(5, 4090, 3),
         load(5, 4098, 1), load(6, 4080), load(6, 4088), load(6, 4096), load(6, 4104)});
    EXPECT_EQ(sizes(), (std::vector<int>{1, 2, 4, 8, 8, 10, 32}));
}

TEST_F(Builder, ElementsOfAMaskedStoreStayApart) {
    const TranslatedBlock b = block({masked_store});
    const auto frame = run({block_event(&b), store(0, 64, 2), store(0, 68, 2), block_event(&b), store(0, 64, 2), store(0, 92, 2)});
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{64, 68, 64, 92}));
    EXPECT_EQ(sizes(), (std::vector<int>{4, 4}));
}

/// Even if an instruction's parts follow each other for longer.
TEST_F(Builder, AnAccessHasAtMost64Bytes) {
    const TranslatedBlock b = block({load_ymm});
    std::vector<Event> events = {block_event(&b)};
    for (uint64_t i = 0; i < 18; ++i) events.push_back(load(0, 4096 + 8 * i));
    const auto frame = run(events);
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{4096, 4160, 4224}));
    EXPECT_EQ(sizes(), (std::vector<int>{64, 64, 16}));
}

/// The next line has an access of its own, so that of a line must not reach into it: only the entering element counts.
TEST_F(Builder, LinesOfAFastStringHaveTheSizeOfAnElement) {
    const TranslatedBlock b = block({rep_stosq});
    std::vector<Event> events;
    for (uint64_t i = 0; i < 20; ++i) events.insert(events.end(), {block_event(&b), store(0, 4000 + 8 * i)});
    const auto frame = run(events);
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{4000, 4032, 4096}));
    for (const trace::StaticBlock& line : blocks) EXPECT_EQ(line.slots.at(0).size_bytes, 8);
}

TEST_F(Builder, EveryPatternIsARegularBlock) {
    const TranslatedBlock b = block({rep_cmpsb});
    const auto frame = run({block_event(&b), load(0, 1), load(0, 9), block_event(&b), block_event(&b), load(0, 2), load(0, 10)});
    EXPECT_EQ(frame.block_ids, (std::vector<uint32_t>{0, 1, 0}));
    EXPECT_EQ(frame.access_counts, (std::vector<uint16_t>{2, 0, 2}));
    EXPECT_EQ(blocks.size(), 2u);
}

TEST_F(Builder, TooManyPatternsAreIrregularNotLost) {
    const TranslatedBlock b = block({rep_cmpsb});
    std::vector<Event> events;
    size_t total = 0;
    for (uint64_t n = 0; n < 200; ++n) {
        events.push_back(block_event(&b));
        for (uint64_t i = 0; i < n; ++i, ++total) events.push_back(load(0, 1000 * n + 16 * i));
    }
    const auto frame = run(events);
    EXPECT_EQ(blocks.size(), 129u);
    EXPECT_EQ(frame.addresses.size(), total);
    EXPECT_EQ(frame.block_ids.size(), 200u);
}

TEST_F(Builder, TheLimitIsNeverExceededAndNeverSplitsABlock) {
    const TranslatedBlock b = block({add_memory});
    std::vector<Event> events;
    for (uint64_t i = 0; i < 10; ++i) events.insert(events.end(), {block_event(&b), load(0, 64), store(0, 64)});
    EXPECT_EQ(run(events, 7, false).addresses.size(), 6u);
    EXPECT_EQ(run(events, 20, true).addresses.size(), 20u);
}

/// What a fast string accesses, worked out element by element: a load or a store is recorded when it enters another line.
struct Lines {
    std::vector<uint64_t> addresses;
    std::vector<uint8_t> is_store;
    void element(uint64_t from, uint64_t to, bool loads) {
        if (loads && from / 64 != load_line) load_line = from / 64, addresses.push_back(from), is_store.push_back(0);
        if (to / 64 != store_line) store_line = to / 64, addresses.push_back(to), is_store.push_back(1);
    }
    uint64_t load_line = UINT64_MAX, store_line = UINT64_MAX;
};

/// A block of a load and rep movsb, as QEMU runs it: one element in the block, then the instruction as its own block, then
/// once more when rcx is 0. Lines of both sides begin at different elements.
TEST_F(Builder, FastStringsAreRecordedByLine) {
    TranslatedBlock whole = block({load_rax, rep_movsb}), rest = block({rep_movsb});
    rest.pc = whole.pc + 3;
    for (const uint64_t bytes : {1u, 2u, 60u, 64u, 65u, 1000u}) {
        Lines expected;
        std::vector<Event> events = {block_event(&whole), load(0, 8)};
        for (uint64_t i = 0; i < bytes; ++i) {
            const uint64_t from = 0x10000 + 5 + i, to = 0x20000 + 40 + i;
            if (i > 0) events.push_back(block_event(&rest));
            events.insert(events.end(), {load(i > 0 ? 0 : 1, from), store(i > 0 ? 0 : 1, to)});
            expected.element(from, to, true);
        }
        events.push_back(block_event(&rest));
        expected.addresses.insert(expected.addresses.begin(), 8);
        expected.is_store.insert(expected.is_store.begin(), 0);
        const auto frame = run(events);
        EXPECT_EQ(frame.addresses, expected.addresses) << bytes;
        EXPECT_EQ(frame.is_store, expected.is_store) << bytes;
        EXPECT_EQ(frame.instructions, 2u) << "a load and one rep movsb of " << bytes << " bytes";
        ASSERT_GE(blocks.size(), 2u);
        EXPECT_EQ(blocks[0].pc, whole.pc);
        EXPECT_EQ(blocks[0].insns.size(), 1u);
        EXPECT_EQ(blocks[1].pc, rest.pc);
        EXPECT_EQ(blocks[1].insns[0].string, trace::StringPart::begin);
        for (size_t b = 2; b < blocks.size(); ++b) EXPECT_EQ(blocks[b].insns[0].string, trace::StringPart::middle);
        EXPECT_LE(blocks.size(), 5u) << "lines of loads, of stores, of both";
    }
}

TEST_F(Builder, AFastStringOfNothingIsOneInstruction) {
    TranslatedBlock whole = block({load_rax, rep_stosq});
    const TranslatedBlock other = block({load_rax});
    const auto frame = run({block_event(&whole), load(0, 8), block_event(&other), load(0, 16)});
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{8, 16}));
    EXPECT_EQ(frame.access_counts, (std::vector<uint16_t>{1, 0, 1}));
    EXPECT_EQ(frame.instructions, 3u);
}

/// The same instruction again, after other code or after it found rcx = 0, is another string, even on the same line.
TEST_F(Builder, TwoFastStringsStayApart) {
    const TranslatedBlock b = block({rep_stosq}), other = block({load_rax});
    const auto frame = run({block_event(&b), store(0, 64), block_event(&b), store(0, 72), block_event(&b), block_event(&b), store(0, 80),
                            block_event(&other), load(0, 8), block_event(&b), store(0, 88), block_event(&b), store(0, 128)});
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{64, 80, 8, 88, 128}));
    EXPECT_EQ(frame.instructions, 4u);
    EXPECT_EQ(blocks[frame.block_ids.back()].insns[0].string, trace::StringPart::middle);
}

TEST_F(Builder, ALongFastStringKeepsTheLimit) {
    const TranslatedBlock b = block({rep_stosq});
    std::vector<Event> events;
    for (uint64_t i = 0; i < 1000; ++i) events.insert(events.end(), {block_event(&b), store(0, 4096 + 8 * i)});
    EXPECT_EQ(run(events).addresses.size(), 125u);
    EXPECT_EQ(run(events, 100, false).addresses.size(), 100u);
}

TEST(Settings, UnknownKeysAndValuesAreRefused) {
    const std::string path = temporary_path("settings");
    for (const char* text : {"out=x\nroi=sometimes\n", "out=x\ncolour=red\n", "out=x\nmax_accesses=12x\n", "roi=whole\n", "out\n"}) {
        trace::testing::write_bytes(path, text);
        EXPECT_THROW(read_settings(path), std::runtime_error) << text;
    }
    trace::testing::write_bytes(path, "out=a,b=c\nroi=markers\nmax_accesses=12\nthreads=1\n");
    const Settings settings = read_settings(path);
    EXPECT_EQ(settings.out, "a,b=c");
    EXPECT_EQ(settings.roi, Roi::markers);
    EXPECT_EQ(settings.max_accesses, 12u);
    EXPECT_TRUE(settings.threads);
    std::remove(path.c_str());
}

/// A line that a system call copied: 64 bytes, one instruction, a pc that no program has.
TEST_F(Builder, KernelLinesAreBlocksOfTheirOwn) {
    KernelBlocks kernel;
    const TranslatedBlock* stores = kernel.of(0, true, true, [] { return 0u; });
    const TranslatedBlock* loads = kernel.of(1, false, false, [] { return 1u; });
    ASSERT_EQ(kernel.of(0, true, true, [] { return 9u; }), stores);
    const auto frame = run({block_event(stores), store(0, 128, kernel_line_shift), block_event(stores), store(0, 192, kernel_line_shift),
                            block_event(loads), load(0, 64, kernel_line_shift)});
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{128, 192, 64}));
    EXPECT_EQ(frame.is_store, (std::vector<uint8_t>{1, 1, 0}));
    ASSERT_EQ(blocks.size(), 2u);
    for (const trace::StaticBlock& b : blocks) {
        EXPECT_TRUE(trace::is_kernel_block(b));
        EXPECT_EQ(b.insns.size(), 1u);
        ASSERT_EQ(b.slots.size(), 1u);
        EXPECT_EQ(b.slots[0].size_bytes, 64);
    }
    EXPECT_EQ(blocks[0].insns[0].kind, trace::InsnKind::store);
    EXPECT_EQ(blocks[1].insns[0].kind, trace::InsnKind::load);
    EXPECT_EQ(blocks[0].insns[0].string, trace::StringPart::begin);
    EXPECT_EQ(blocks[1].insns[0].string, trace::StringPart::middle);
    EXPECT_EQ(frame.instructions, 2u) << "the further line of a copy is no instruction";
    EXPECT_EQ(blocks[0].pc, 0x7ffffffff001u);
    EXPECT_EQ(blocks[1].pc, 0x7ffffffff002u);
}

}  // namespace
}  // namespace tessera::tracer::testing
