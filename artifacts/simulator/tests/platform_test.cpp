// platform_test.cpp - flat platform files: keys without a default are required, keys that took a default are listed, and
// errors name the key.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/platform.h"
#include "support/platform_text.h"

namespace tessera::sim::testing {
namespace {

void expect_refused(const std::string& text, const std::vector<std::string>& words) {
    try {
        parse_platform(text, "p");
        FAIL() << "accepted";
    } catch (const Refusal& refusal) {
        for (const std::string& word : words) EXPECT_NE(std::string(refusal.what()).find(word), std::string::npos) << refusal.what();
    }
}

TEST(PlatformFile, OfAllKeysIsAccepted) { EXPECT_EQ(parse_platform(platform_text(), "p").l1d.bytes, 65536u); }

TEST(PlatformFile, EachMissingKeyIsNamed) {
    size_t mandatory = 0;
    for (const PlatformKey& row : platform_keys()) {
        if (*row.fallback != '\0') continue;
        expect_refused(platform_text({{row.key, "-"}}), {"missing", row.key});
        ++mandatory;
    }
    EXPECT_EQ(mandatory, 54u);
}

TEST(PlatformFile, EachKeyWithADefaultMayBeLeftOutAndIsNamed) {
    const Platform in_full = parse_platform(platform_text(), "p");
    EXPECT_TRUE(in_full.filled.empty());
    std::map<std::string, std::string> without;
    std::vector<std::string> expected;
    for (const PlatformKey& row : platform_keys()) {
        EXPECT_EQ(*row.fallback == '\0', *row.source == '\0') << row.key;
        if (*row.fallback == '\0') continue;
        without[row.key] = "-";
        expected.push_back(row.key);
        EXPECT_TRUE(row.word != nullptr || (row.least <= digits_of(row.fallback) && digits_of(row.fallback) <= row.most)) << row.key;
    }
    EXPECT_EQ(expected.size(), 54u);
    Platform p = parse_platform(platform_text(without), "p");
    EXPECT_EQ(p.filled, expected);
    EXPECT_EQ(p.overlap, 1u);
    EXPECT_EQ(p.walker_pollutes, 1u);
    EXPECT_EQ(p.walker_serves_background, 1u);
    EXPECT_EQ(p.page_table_levels, 4u);
    EXPECT_EQ(p.mmu_design, "conventional");
    EXPECT_EQ(p.prefetch_l2.kind, "none");
    EXPECT_EQ(p.allocator, "identity");
}

TEST(PlatformFile, FaultsAreNamed) {
    expect_refused(platform_text() + "tlb.l3.entries = 4\n", {"tlb.l3.entries", "no such key", "tlb.stlb.entries"});
    expect_refused(platform_text() + "tlb.stbl.entries = 4\n", {"no such key", "did you mean tlb.stlb.entries?"});
    expect_refused(platform_text() + "walker.count = 1\n", {"walker.count", "already set"});
    expect_refused(platform_text({{"walker.count", "9"}}), {"walker.count", "'9'", "from 0 to 8"});
    expect_refused(platform_text({{"walker.count", "two"}}), {"walker.count", "'two'"});
    for (const char* number : {"nan", "NaN", "inf", "-1", "+1", "1.0", "1e3", "0x10", "", "true", "18446744073709551616", "1 2"})
        expect_refused(platform_text({{"core.mshrs", number}}),
                       {"core.mshrs", "'" + std::string(number) + "'", "whole number from 1 to 64"});
    expect_refused(platform_text() + "nonsense\n", {"key = value", "nonsense"});
    expect_refused(platform_text({{"tlb.stlb.ways", "4"}}), {"tlb.stlb.entries = 0", "tlb.stlb.ways = 4"});
    expect_refused(platform_text({{"cache.l2.ways", "3"}}), {"cache.l2"});
}

}  // namespace
}  // namespace tessera::sim::testing
