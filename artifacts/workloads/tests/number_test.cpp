// Checked number parsing: what is accepted, what is refused, at the edges.
#include "common/number.h"

#include <gtest/gtest.h>

using namespace tessera::workloads;

namespace {

TEST(Count, AcceptsDigitsUpTo64Bits) {
    EXPECT_EQ(parse_count("t", "0"), 0u);
    EXPECT_EQ(parse_count("t", "18446744073709551615"), UINT64_MAX);
}

TEST(Count, RefusesEverythingElse) {
    for (const char* text : {"", "-1", "+1", " 1", "1 ", "12abc", "0x10", "1e6", "18446744073709551616"})
        EXPECT_THROW(parse_count("t", text), Error) << "'" << text << "'";
}

TEST(Size, UnitsArePowersOfTwo) {
    EXPECT_EQ(parse_size("t", "4096"), 4096u);
    EXPECT_EQ(parse_size("t", "4KB"), 4096u);
    EXPECT_EQ(parse_size("t", "64MB"), 64u << 20);
    EXPECT_EQ(parse_size("t", "4GB"), uint64_t{4} << 30);
    EXPECT_EQ(parse_size("t", "16777215TB"), uint64_t{16777215} << 40);
}

TEST(Size, RefusesWrongUnitsAndOverflow) {
    for (const char* text : {"", "GB", "1gb", "1G", "1 GB", "1.5GB", "-1GB", "1KBMB", "16777216TB"})
        EXPECT_THROW(parse_size("t", text), Error) << "'" << text << "'";
}

TEST(Real, AcceptsFiniteNumbersOnly) {
    EXPECT_DOUBLE_EQ(parse_real("t", "1e-4"), 0.0001);
    for (const char* text : {"", "nan", "inf", "1,5", "1x"}) EXPECT_THROW(parse_real("t", text), Error) << "'" << text << "'";
}

TEST(Errors, NameOwnerFindingAndRemedy) {
    try {
        parse_size("gups: --size", "4XB");
        FAIL();
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with("gups: --size: '4XB' is not a size"));
        EXPECT_NE(text.find("\n  what to do: "), std::string::npos);
        EXPECT_EQ(error.exit_status(), 2);
    }
}

}  // namespace
