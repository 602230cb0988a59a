// platform_test.cpp - flat platform files: nothing is assumed, everything wrong is named.
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
    for (const PlatformKey& row : platform_keys()) expect_refused(platform_text({{row.key, "-"}}), {"missing", row.key});
}

TEST(PlatformFile, FaultsAreNamed) {
    expect_refused(platform_text() + "tlb.l3.entries = 4\n", {"tlb.l3.entries", "no such key", "tlb.stlb.entries"});
    expect_refused(platform_text() + "walker.count = 1\n", {"walker.count", "already set"});
    expect_refused(platform_text({{"walker.count", "9"}}), {"walker.count", "'9'", "from 0 to 8"});
    expect_refused(platform_text({{"walker.count", "two"}}), {"walker.count", "'two'"});
    for (const char* number : {"nan", "NaN", "inf", "-1", "+1", "1.0", "1e3", "0x10", "", "true", "18446744073709551616", "1 2"})
        expect_refused(platform_text({{"core.mshrs", number}}), {"core.mshrs", "'" + std::string(number) + "'", "whole number from 1 to 64"});
    expect_refused(platform_text() + "nonsense\n", {"key = value", "nonsense"});
    expect_refused(platform_text({{"tlb.stlb.ways", "4"}}), {"tlb.stlb.entries = 0", "tlb.stlb.ways = 4"});
    expect_refused(platform_text({{"cache.l2.ways", "3"}}), {"cache.l2"});
}

}  // namespace
}  // namespace tessera::sim::testing
