// platform_test.cpp - flat platform files: nothing is assumed, everything wrong is named.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/platform.h"

namespace tessera::sim::testing {
namespace {

/// A valid file: each key at its least value, with structures that exist.
std::string valid(const std::string& skip = "") {
    std::string text = "# comment\n\n";
    for (const PlatformKey& row : platform_keys()) {
        if (row.key == skip) continue;
        const std::string key = row.key;
        text += key + " = " + (row.word ? "lru" : std::to_string(key.starts_with("cache.") && key.ends_with(".bytes") ? 65536 : row.least)) + "\n";
    }
    return text;
}

void expect_refused(const std::string& text, const std::vector<std::string>& words) {
    try {
        parse_platform(text, "p");
        FAIL() << "accepted";
    } catch (const Refusal& refusal) {
        for (const std::string& word : words) EXPECT_NE(std::string(refusal.what()).find(word), std::string::npos) << refusal.what();
    }
}

TEST(PlatformFile, OfAllKeysIsAccepted) { EXPECT_EQ(parse_platform(valid(), "p").l1d.bytes, 65536u); }

TEST(PlatformFile, EachMissingKeyIsNamed) {
    for (const PlatformKey& row : platform_keys()) expect_refused(valid(row.key), {"missing", row.key});
}

TEST(PlatformFile, FaultsAreNamed) {
    expect_refused(valid() + "tlb.l3.entries = 4\n", {"tlb.l3.entries", "no such key", "tlb.stlb.entries"});
    expect_refused(valid() + "walker.count = 1\n", {"walker.count", "already set"});
    expect_refused(valid("walker.count") + "walker.count = 9\n", {"walker.count", "'9'", "from 0 to 8"});
    expect_refused(valid("walker.count") + "walker.count = two\n", {"walker.count", "'two'"});
    expect_refused(valid() + "nonsense\n", {"key = value", "nonsense"});
    expect_refused(valid("tlb.stlb.ways") + "tlb.stlb.ways = 4\n", {"tlb.stlb.entries = 0", "tlb.stlb.ways = 4"});
    expect_refused(valid("cache.l2.ways") + "cache.l2.ways = 3\n", {"cache.l2"});
}

}  // namespace
}  // namespace tessera::sim::testing
