// engines_agree_test.cpp - the fast engines give exactly the oracle's counts: random programs, layouts, platforms.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

using Random = std::mt19937_64;
using trace::InsnKind;

uint64_t below(Random& random, uint64_t n) { return random() % n; }

uint32_t random_block(Random& random, StreamBuilder& builder) {
    std::vector<trace::StaticInsn> insns;
    std::vector<trace::MemorySlot> slots;
    const size_t count = 1 + below(random, 6);
    for (uint16_t i = 0; i < count; ++i) {
        const InsnKind kind = static_cast<InsnKind>(below(random, 12));
        const bool loads = kind == InsnKind::load || kind == InsnKind::load_store, stores = kind == InsnKind::store || kind == InsnKind::load_store;
        const uint64_t address = loads || stores ? reg(unsigned(below(random, 6))) : 0;
        uint64_t reads = address | (below(random, 2) ? reg(unsigned(below(random, 6))) : 0);
        if (below(random, 8) == 0) reads |= reg(16) | reg(20);
        insns.push_back(insn(kind, reads, below(random, 3) ? reg(unsigned(below(random, 6))) : 0, address, uint8_t(loads + stores)));
        if (loads) slots.push_back({i, 0, 8});
        if (stores) slots.push_back({i, 1, 8});
    }
    return builder.block(insns, slots);
}

/// Addresses with locality at several scales: near the last one, in a hot set, anywhere in pools, outside them.
uint64_t random_address(Random& random, std::vector<uint64_t>& hot) {
    switch (below(random, 8)) {
        case 0: return heap_base + below(random, uint64_t{4} << 30);
        case 1: return anon_base + below(random, uint64_t{64} << 20);
        case 2: return 0x7ffff0000000 + below(random, 1 << 16);
        case 3: return hot[below(random, hot.size())] = heap_base + below(random, uint64_t{24} << 20);
        case 4: return hot.back() += 8;
        case 5: return hot.back() = anon_base + below(random, 1 << 20) * 4096 % (uint64_t{4} << 30);
        default: return hot[below(random, hot.size())] + below(random, 256);
    }
}

MemoryStream random_stream(Random& random, size_t accesses) {
    StreamBuilder builder(uint64_t{4} << 30, uint64_t{4} << 30, 1000);
    std::vector<uint32_t> blocks;
    std::vector<size_t> slots;
    for (int i = 0; i < 12; ++i) blocks.push_back(random_block(random, builder));
    MemoryStream probe = StreamBuilder(builder).finish();
    for (const auto& block : probe.blocks()) slots.push_back(block.slots.size());
    std::vector<uint64_t> hot(24, heap_base);
    for (size_t done = 0; done < accesses;) {
        const size_t b = below(random, blocks.size());
        size_t count = slots[b];
        if (count > 0 && below(random, 10) == 0) count = below(random, 9);  // string instructions, predicated vectors
        std::vector<uint64_t> addresses;
        std::vector<uint8_t> stores;
        for (size_t i = 0; i < count; ++i) addresses.push_back(random_address(random, hot)), stores.push_back(below(random, 3) == 0);
        builder.run(blocks[b], addresses, stores);
        done += count + 1;
    }
    return builder.finish();
}

Layout random_layout(Random& random, size_t number) {
    Layout layout{"random-" + std::to_string(number), {}};
    for (trace::PoolKind pool : {trace::PoolKind::heap, trace::PoolKind::anon}) {
        uint64_t at = below(random, 3) * (uint64_t{1} << below(random, 2) * 30);
        while (at < uint64_t{4} << 30 && below(random, 5) != 0) {
            const PageSize size = below(random, 4) ? PageSize::large_2mb : PageSize::huge_1gb;
            const uint64_t page = bytes_of(size).value;
            const uint64_t begin = (at + page - 1) / page * page;
            const uint64_t end = begin + page * (1 + below(random, size == PageSize::large_2mb ? 30 : 2));
            if (end > uint64_t{4} << 30) break;
            layout.windows.push_back(window(pool, size, begin, end));
            at = end + below(random, 20) * (2 << 20);
        }
    }
    return layout;
}

void expect_same(const LayoutCounts& a, const LayoutCounts& b, bool runtime) {
    EXPECT_EQ(a.stlb_hits, b.stlb_hits);
    EXPECT_EQ(a.stlb_misses, b.stlb_misses);
    EXPECT_EQ(a.program, b.program);
    EXPECT_EQ(a.walker, b.walker);
    ASSERT_EQ(a.units.size(), b.units.size());
    for (size_t u = 0; u < a.units.size(); ++u) {
        EXPECT_EQ(a.units[u].instructions, b.units[u].instructions) << "unit " << u;
        EXPECT_EQ(a.units[u].accesses, b.units[u].accesses) << "unit " << u;
        EXPECT_EQ(a.units[u].stlb_misses, b.units[u].stlb_misses) << "unit " << u;
        EXPECT_EQ(a.units[u].walk_cycles, b.units[u].walk_cycles) << "unit " << u;
        if (runtime) {
            EXPECT_EQ(a.units[u].runtime_cycles, b.units[u].runtime_cycles) << "unit " << u;
        }
    }
}

struct Case {
    std::string name;
    Platform platform;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class EnginesAgree : public ::testing::TestWithParam<Case> {};

TEST_P(EnginesAgree, OnRandomTracesUnderRandomLayouts) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed * 77 + 5);
        MemoryStream stream = random_stream(random, 20000);
        std::vector<Layout> layouts;
        for (size_t i = 0; i < 16 - seed; ++i) layouts.push_back(random_layout(random, i));
        const Sampling sampling = seed % 2 ? Sampling{false, 1 + seed, 800, 700} : Sampling{};
        const auto truth = simulate("reference", GetParam().platform, stream, layouts, sampling);
        for (const char* isa : {"avx2", "avx512"}) {
            if (std::string(isa) == "avx512" && !__builtin_cpu_supports("avx512bw")) continue;
            setenv("TESSERA_SIM_ISA", isa, 1);
            for (const char* engine : {"partial", "timing"}) {
                const auto counts = simulate(engine, GetParam().platform, stream, layouts, sampling);
                for (size_t i = 0; i < layouts.size(); ++i) {
                    SCOPED_TRACE(std::string(isa) + " " + engine + " layout " + std::to_string(i));
                    expect_same(truth[i], counts[i], std::string(engine) == "timing");
                    if (HasFailure()) return;
                }
            }
            unsetenv("TESSERA_SIM_ISA");
        }
        EXPECT_GT(truth[0].stlb_misses, 0u);
    }
}

std::vector<Case> cases() {
    std::vector<Case> all = {{"sandybridge", sandybridge()}, {"haswell", haswell()}, {"broadwell", broadwell()}};
    for (unsigned v = 0; v < 10; ++v) all.push_back({"tiny" + std::to_string(v), tiny(v)});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Platforms, EnginesAgree, ::testing::ValuesIn(cases()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tessera::sim::testing
