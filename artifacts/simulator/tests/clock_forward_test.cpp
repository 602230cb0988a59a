// clock_forward_test.cpp - store-to-load forwarding: runtimes worked out by hand (docs/clock.md has the rules), and the table of stores.
#include "engine/store_words.h"
#include "support/clock_script.h"

namespace tessera::sim::testing {
namespace {

using trace::InsnKind;
using trace::StringPart;
using Kind = StoreMatch::Kind;

constexpr uint64_t reg(unsigned r) { return uint64_t{1} << r; }

enum Blocks : uint32_t {
    divide,
    divide_loaded,
    load_late,
    store_of_divided,
    store_4,
    store_8,
    store_32,
    load_2,
    load_4,
    load_8,
    store_string
};

/// r3 is the divider's result (in cycle 100), r5 what was loaded.
std::vector<trace::StaticBlock> blocks() {
    const auto store = [](uint8_t bytes, uint64_t data = 0) {
        return trace::StaticBlock{0, {{reg(2) | data, 0, reg(2), InsnKind::store, 1, 4}}, {{0, 1, bytes}}};
    };
    const auto load = [](uint8_t bytes) {
        return trace::StaticBlock{0, {{reg(2), reg(5), reg(2), InsnKind::load, 1, 4}}, {{0, 0, bytes}}};
    };
    trace::StaticBlock string = store(8);
    string.insns[0].string = StringPart::begin;
    return {{0, {{reg(3), reg(3), 0, InsnKind::divide, 0, 4}}, {}},
            {0, {{reg(5), reg(8), 0, InsnKind::divide, 0, 4}}, {}},
            {0, {{reg(3), reg(5), reg(3), InsnKind::load, 1, 4}}, {{0, 0, 8}}},
            store(8, reg(3)),
            store(4),
            store(8),
            store(32),
            load(2),
            load(4),
            load(8),
            string};
}

/// From a store's data to the load, 5 cycles; a hit of L1D takes 4.
Platform forwarding() {
    Platform p = round_numbers();
    p.store_forward_cycles = 5;
    return p;
}

AccessOutcome access(uint64_t address, bool is_store, MemoryLevel level = MemoryLevel::l1d) {
    AccessOutcome a;
    a.address = VirtAddr(address);
    a.is_store = is_store;
    a.level = level;
    return a;
}

/// Behind a division, which keeps the store in the buffer until cycle 100: a store, a load, a division of what was loaded.
uint64_t loaded_at(const Platform& p, uint32_t store, uint64_t to, uint32_t load, uint64_t from) {
    ClockScript script(p, blocks());
    script.run(divide);
    script.run(store, {access(to, true)});
    script.run(load, {access(from, false)});
    script.run(divide_loaded);
    return script.cycles() - 100;
}

TEST(ClockForward, ALoadTakesItsBytesFromTheStoreBuffer) {
    EXPECT_EQ(loaded_at(forwarding(), store_8, 0x1000, load_8, 0x1000), 5u);
    EXPECT_EQ(loaded_at(round_numbers(), store_8, 0x1000, load_8, 0x1000), 4u);  // off: as if there were no store
}

TEST(ClockForward, ItWaitsForTheStoresData) {
    EXPECT_EQ(loaded_at(forwarding(), store_of_divided, 0x1000, load_8, 0x1000), 100u + 5);
    EXPECT_EQ(loaded_at(round_numbers(), store_of_divided, 0x1000, load_8, 0x1000), 4u);
}

TEST(ClockForward, AnyPartOfOneStoreIsForwarded) {
    EXPECT_EQ(loaded_at(forwarding(), store_4, 0x1000, load_2, 0x1002), 5u);
    EXPECT_EQ(loaded_at(forwarding(), store_32, 0x1000, load_8, 0x1018), 5u);
}

TEST(ClockForward, AStoreOfSomeOfTheBytesMustBeWrittenFirst) {
    EXPECT_EQ(loaded_at(forwarding(), store_4, 0x1000, load_8, 0x1000), 100u + 4);
    EXPECT_EQ(loaded_at(forwarding(), store_8, 0x1004, load_8, 0x1008), 100u + 4);
}

TEST(ClockForward, OtherBytesOfTheWordComeFromTheCache) {
    EXPECT_EQ(loaded_at(forwarding(), store_4, 0x1000, load_4, 0x1004), 4u);
    EXPECT_EQ(loaded_at(forwarding(), store_8, 0x1000, load_8, 0x1008), 4u);
}

TEST(ClockForward, StringsForwardNothing) { EXPECT_EQ(loaded_at(forwarding(), store_string, 0x1000, load_8, 0x1000), 4u); }

TEST(ClockForward, AStoreThatIsWrittenIsReadFromTheCache) {
    ClockScript script(forwarding(), blocks());
    script.run(store_8, {access(0x1000, true)});     // written in cycle 4
    script.run(divide);
    script.run(load_late, {access(0x1000, false)});  // has its address in cycle 100
    EXPECT_EQ(script.cycles(), 100u + 4);
}

TEST(ClockForward, AMissOfTheLoadTakesItsMshrAllTheSame) {
    Platform p = forwarding();
    p.mshrs = 1;
    ClockScript script(p, blocks());
    script.run(divide);
    script.run(store_8, {access(0x2000, true)});                    // in the buffer until the division has retired
    script.run(load_8, {access(0x2000, false, MemoryLevel::l3)});   // has its data in cycle 5, its MSHR until 40
    script.run(load_8, {access(0x3040, false, MemoryLevel::l2)});   // enters in cycle 1
    script.run(divide_loaded);
    EXPECT_EQ(script.cycles(), 40u + 12 + 100);
}

TEST(ClockForward, AUnitBeginsWithoutStores) {
    ClockScript script(forwarding(), blocks());
    script.run(divide);
    script.run(store_8, {access(0x1000, true)});
    script.begin_unit();
    script.run(load_8, {access(0x1000, false)});
    EXPECT_EQ(script.cycles(), 4u);
}

class Words {
public:
    void store(uint64_t address, uint64_t bytes) { words_.access({address, bytes, true, false}); }
    void string(uint64_t address, bool is_store) { words_.access({address, 64, is_store, true}); }
    Kind load(uint64_t address, uint64_t bytes) { return words_.access({address, bytes, false, false}).kind; }
    uint32_t slot(uint64_t address) { return words_.access({address, 8, false, false}).slot; }

private:
    StoreWords words_{3};
};

TEST(StoreWords, TheYoungestStoreOfAWordWins) {
    Words words;
    words.store(0x100, 8);
    words.store(0x100, 8);
    EXPECT_EQ(words.load(0x100, 8), Kind::whole);
    EXPECT_EQ(words.slot(0x100), 1u);
    words.store(0x104, 4);
    EXPECT_EQ(words.load(0x100, 8), Kind::part);
    EXPECT_EQ(words.load(0x100, 4), Kind::none);
    EXPECT_EQ(words.slot(0x100), 2u);
}

TEST(StoreWords, OnlyStoresThatMayBeInTheBufferCount) {
    Words words;
    words.store(0x100, 8);
    words.store(0x200, 8), words.store(0x208, 8);
    EXPECT_EQ(words.load(0x100, 8), Kind::whole);
    words.store(0x210, 8);
    EXPECT_EQ(words.load(0x100, 8), Kind::none);
    EXPECT_EQ(words.slot(0x210), 0u) << "the fourth store takes the first slot again";
}

TEST(StoreWords, WordsAreDirectMapped) {
    Words words;
    words.store(0x100, 8);
    words.store(0x100 + 256 * 8, 8);
    EXPECT_EQ(words.load(0x100, 8), Kind::none);
    EXPECT_EQ(words.load(0x100 + 256 * 8, 8), Kind::whole);
}

TEST(StoreWords, StringsForgetTheirLine) {
    for (const bool is_store : {false, true}) {
        Words words;
        words.store(0x100, 8), words.store(0x140, 8);
        words.string(0x120, is_store);
        EXPECT_EQ(words.load(0x100, 8), Kind::none);
        EXPECT_EQ(words.load(0x140, 8), Kind::whole);
    }
}

/// The rule of the header, from the list of all stores and strings: the youngest one that decides over the word of the load's first byte.
StoreMatch searched(const std::vector<SizedAccess>& before, const SizedAccess& load, size_t buffer_entries) {
    const uint64_t word = load.address / 8, end = load.address + load.bytes;
    uint64_t stores = 0, number = 0;
    for (const SizedAccess& access : before) stores += access.is_store;
    number = stores;
    for (size_t i = before.size(); i-- > 0;) {
        const SizedAccess& access = before[i];
        number -= access.is_store;
        if (access.is_string && access.address / 64 == load.address / 64) return {};
        if (access.is_string || !access.is_store) continue;
        const uint64_t first = access.address / 8, last = (access.address + access.bytes - 1) / 8,
                       end_of_store = access.address + access.bytes;
        if (word < first || word > last) {
            for (uint64_t other = first; other <= last; ++other)
                if (other % 256 == word % 256) return {};  // displaced
            continue;
        }
        if (stores - number > buffer_entries || end <= access.address || end_of_store <= load.address) return {};
        const bool whole = access.address <= load.address && end <= end_of_store;
        return {whole ? StoreMatch::Kind::whole : StoreMatch::Kind::part, uint32_t(number % buffer_entries)};
    }
    return {};
}

TEST(StoreWords, MatchAsASearchOfAllAccessesDoes) {
    std::mt19937_64 random(5);
    size_t matches = 0;
    for (const size_t buffer : {1, 3, 42}) {
        StoreWords words(buffer);
        std::vector<SizedAccess> before;
        for (int i = 0; i < 4000; ++i) {
            const SizedAccess access{random() % 120 + random() % 3 * 2048, uint64_t{1} << random() % 6, random() % 2 == 0,
                                     random() % 16 == 0};
            const StoreMatch found = words.access(access);
            if (access.is_store || access.is_string) {
                before.push_back(access);
                continue;
            }
            const StoreMatch expected = searched(before, access, buffer);
            ASSERT_EQ(found.kind, expected.kind) << i;
            if (found.kind == StoreMatch::Kind::none) continue;
            ASSERT_EQ(found.slot, expected.slot) << i;
            ++matches;
        }
    }
    EXPECT_GT(matches, 300u);
}

TEST(StoreWords, StoresOfStringsTakeSlots) {
    Words words;
    words.string(0x1000, true);
    words.store(0x100, 8);
    EXPECT_EQ(words.slot(0x100), 1u);
}

}  // namespace
}  // namespace tessera::sim::testing
