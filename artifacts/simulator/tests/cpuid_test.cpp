// cpuid_test.cpp - CPUID registers as processors report them, decoded; expected sizes are those of the vendors' documents.
#include <gtest/gtest.h>

#include <utility>

#include "cli/cpuid_report.h"

namespace tessera::sim::testing {
namespace {

using Leaves = std::map<std::pair<uint32_t, uint32_t>, CpuidRegisters>;
using Expected = std::map<std::string, uint64_t>;

constexpr CpuidRegisters intel = {0x16, 0x756e6547, 0x6c65746e, 0x49656e69}, amd = {0x0d, 0x68747541, 0x444d4163, 0x69746e65};

CpuidReport decode(const Leaves& leaves) {
    return decode_cpuid([&](uint32_t leaf, uint32_t sub) -> std::optional<CpuidRegisters> {
        const auto found = leaves.find({leaf, sub});
        if (found == leaves.end()) return std::nullopt;
        return found->second;
    });
}

void expect(const CpuidReport& report, const Expected& expected) {
    for (const auto& [key, value] : expected) {
        const auto found = report.values.all().find(key);
        ASSERT_NE(found, report.values.all().end()) << key;
        EXPECT_EQ(found->second, value) << key;
    }
}

/// A sub-leaf of leaf 18h: sizes 1 = 4KB, 2 = 2MB, 4 = 4MB, 8 = 1GB.
CpuidRegisters tlb(uint32_t sizes, uint32_t ways, uint32_t sets, uint32_t type, uint32_t level, uint32_t last = 0) {
    return {last, ways << 16 | sizes, sets, level << 5 | type};
}

TEST(Cpuid, SkylakeServerByDescriptors) {
    const CpuidReport report = decode({{{0, 0}, intel},
                                       {{1, 0}, {0x00050654, 0, 0, 0}},
                                       {{2, 0}, {0x76036301, 0x00f0b5ff, 0, 0x00c30000}},
                                       {{4, 0}, {0x7c004121, 0x01c0003f, 0x3f, 0}},
                                       {{4, 1}, {0x7c004122, 0x01c0003f, 0x3f, 0}},
                                       {{4, 2}, {0x7c004143, 0x03c0003f, 0x3ff, 0}},
                                       {{4, 3}, {0x7c0fc163, 0x0280003f, 0x8fff, 4}},
                                       {{0x16, 0}, {2300, 3700, 100, 0}}});
    EXPECT_EQ(report.vendor, "GenuineIntel");
    EXPECT_EQ(report.family, 6u);
    EXPECT_EQ(report.model, 0x55u);
    EXPECT_FALSE(report.hypervisor);
    expect(report, {{"tlb.l1d.4kb.entries", 64},
                    {"tlb.l1d.4kb.ways", 4},
                    {"tlb.l1d.2mb.entries", 32},
                    {"tlb.l1d.1gb.entries", 4},
                    {"tlb.l1i.entries", 64},
                    {"tlb.l1i.ways", 8},
                    {"tlb.stlb.entries", 1536},
                    {"tlb.stlb.ways", 6},
                    {"tlb.stlb.holds_2mb", 1},
                    {"tlb.stlb.holds_1gb", 0},
                    {"tlb.stlb_2mb.entries", 0},
                    {"tlb.stlb_1gb.entries", 16},
                    {"cache.l1d.bytes", 32768},
                    {"cache.l1d.ways", 8},
                    {"cache.l2.bytes", 1 << 20},
                    {"cache.l2.ways", 16},
                    {"cache.l3.bytes", 25952256},
                    {"cache.l3.ways", 11},
                    {"core.frequency_hz", 2300000000}});
}

TEST(Cpuid, SandyBridgeHasNoLargePagesInItsStlb) {
    expect(decode({{{0, 0}, intel}, {{2, 0}, {0x76035a01, 0x00f0b0ff, 0, 0x00ca0000}}}), {{"tlb.stlb.entries", 512},
                                                                                          {"tlb.stlb.ways", 4},
                                                                                          {"tlb.stlb.holds_2mb", 0},
                                                                                          {"tlb.stlb_1gb.entries", 0},
                                                                                          {"tlb.l1i.entries", 128},
                                                                                          {"tlb.l1i.ways", 4}});
}

TEST(Cpuid, IceLakeByLeaf18) {
    // Half of the second level holds 4KB and 2MB pages, the other half 4KB and 1GB.
    const CpuidReport report = decode({{{0, 0}, intel},
                                       {{2, 0}, {0x00feff01, 0xf0, 0, 0}},
                                       {{0x18, 0}, {6, 0, 0, 0}},
                                       {{0x18, 1}, tlb(1, 4, 16, 4, 1)},
                                       {{0x18, 2}, tlb(6, 4, 8, 4, 1)},
                                       {{0x18, 3}, tlb(8, 8, 1, 4, 1)},
                                       {{0x18, 4}, tlb(15, 16, 1, 5, 1)},
                                       {{0x18, 5}, tlb(1 | 6, 8, 128, 3, 2)},
                                       {{0x18, 6}, tlb(1 | 8, 8, 128, 3, 2)}});
    expect(report, {{"tlb.l1d.4kb.entries", 64},
                    {"tlb.l1d.2mb.entries", 32},
                    {"tlb.l1d.1gb.entries", 8},
                    {"tlb.l1d.1gb.in_4kb", 0},
                    {"tlb.stlb.entries", 2048},
                    {"tlb.stlb.ways", 16},
                    {"tlb.stlb.holds_2mb", 0},
                    {"tlb.stlb.holds_1gb", 0},
                    {"tlb.stlb_2mb.entries", 1024},
                    {"tlb.stlb_2mb.ways", 8},
                    {"tlb.stlb_1gb.entries", 1024}});
}

TEST(Cpuid, OneArrayForAllSizesByLeaf18) {
    expect(decode({{{0, 0}, intel},
                   {{2, 0}, {0x00feff01, 0, 0, 0}},
                   {{0x18, 0}, {2, 0, 0, 0}},
                   {{0x18, 1}, tlb(15, 48, 1, 1, 1)},
                   {{0x18, 2}, tlb(15, 8, 128, 3, 2)}}),
           {{"tlb.l1d.4kb.entries", 48},
            {"tlb.l1d.2mb.entries", 0},
            {"tlb.l1d.2mb.in_4kb", 1},
            {"tlb.l1d.1gb.in_4kb", 1},
            {"tlb.stlb.entries", 1024},
            {"tlb.stlb.holds_2mb", 1},
            {"tlb.stlb.holds_1gb", 1},
            {"tlb.stlb_2mb.entries", 0}});
}

TEST(Cpuid, Zen) {
    const CpuidReport report = decode({{{0, 0}, amd},
                                       {{1, 0}, {0x00800f12, 0, 0, 0}},
                                       {{0x80000005, 0}, {0xff40ff40, 0xff40ff40, 0x20080140, 0x40040140}},
                                       {{0x80000006, 0}, {0x26006400, 0x66006400, 0x02006140, 0x00808140}},
                                       {{0x80000019, 0}, {0xf040f040, 0, 0, 0}},
                                       {{0x8000001d, 0}, {0x00004121, 0x01c0003f, 0x3f, 0}},
                                       {{0x8000001d, 1}, {0x00004122, 0x00c0003f, 0xff, 0}},
                                       {{0x8000001d, 2}, {0x00004143, 0x01c0003f, 0x3ff, 2}},
                                       {{0x8000001d, 3}, {0x0001c163, 0x03c0003f, 0x1fff, 1}}});
    EXPECT_EQ(report.vendor, "AuthenticAMD");
    EXPECT_EQ(report.family, 0x17u);
    expect(report, {{"tlb.l1d.4kb.entries", 64},
                    {"tlb.l1d.4kb.ways", 64},
                    {"tlb.l1d.2mb.entries", 0},
                    {"tlb.l1d.2mb.in_4kb", 1},
                    {"tlb.l1d.1gb.in_4kb", 1},
                    {"tlb.l1i.entries", 64},
                    {"tlb.stlb.entries", 1536},
                    {"tlb.stlb.ways", 8},
                    {"tlb.stlb.holds_2mb", 1},
                    {"tlb.stlb_1gb.entries", 0},
                    {"cache.l1d.bytes", 32768},
                    {"cache.l2.bytes", 524288},
                    {"cache.l2.ways", 8},
                    {"cache.l3.bytes", 8388608},
                    {"cache.l3.ways", 16}});
}

/// 128 units of 32 entries: 4096, as Zen 5 has. With the bit that says so, or without it from a hypervisor that hides it.
TEST(Cpuid, ZenFiveCountsTheSecondLevelInUnitsOf32) {
    const CpuidRegisters first = {0xff60ff40, 0xff60ff40, 0x300c0140, 0x20080140},
                         second = {0x40802040, 0x60804040, 0x04008140, 0x0c009140};
    const uint32_t zen_5 = 0x00b20f21, zen_1 = 0x00800f12;
    const auto entries = [&](uint32_t version, uint32_t features) {
        return decode({{{0, 0}, amd},
                       {{1, 0}, {version, 0, 0, 0}},
                       {{0x80000005, 0}, first},
                       {{0x80000006, 0}, second},
                       {{0x80000021, 0}, {features, 0, 0, 0}}})
            .values.all()
            .at("tlb.stlb.entries");
    };
    EXPECT_EQ(entries(zen_5, 1u << 14), 4096u);
    EXPECT_EQ(entries(zen_5, 0x204), 4096u);
    EXPECT_EQ(entries(zen_1, 0), 128u);
    expect(decode({{{0, 0}, amd}, {{1, 0}, {zen_5, 0, 0, 0}}, {{0x80000005, 0}, first}, {{0x80000006, 0}, second}}),
           {{"tlb.stlb.entries", 4096}, {"tlb.stlb.ways", 8}, {"tlb.stlb.holds_2mb", 1}, {"tlb.l1i.entries", 64}});
}

TEST(Cpuid, SilentHypervisorsLeaveEverythingOpen) {
    // As one cloud's virtual machines report: leaf 2 refers to leaf 18h, which is all zero.
    Leaves leaves = {{{0, 0}, intel}, {{1, 0}, {0x000c06f2, 0, 0x80000000, 0}}, {{2, 0}, {0x00feff01, 0xf0, 0, 0}}, {{0x16, 0}, {}}};
    for (uint32_t sub = 0; sub < 9; ++sub) leaves[{0x18, sub}] = {};
    const CpuidReport report = decode(leaves);
    EXPECT_TRUE(report.hypervisor);
    EXPECT_EQ(report.model, 0xcfu);
    EXPECT_TRUE(report.values.all().empty());
    EXPECT_TRUE(decode({{{0, 0}, {1, 0, 0, 0}}}).values.all().empty());
}

TEST(Cpuid, HostileRegistersEnd) {
    const CpuidReport report = decode_cpuid([](uint32_t leaf, uint32_t) -> std::optional<CpuidRegisters> {
        if (leaf == 0) return intel;
        return CpuidRegisters{~0u, ~0u, ~0u, ~0u};
    });
    for (const auto& [key, value] : report.values.all()) EXPECT_TRUE(value != 0 || !key.ends_with(".ways")) << key;
}

}  // namespace
}  // namespace tessera::sim::testing
