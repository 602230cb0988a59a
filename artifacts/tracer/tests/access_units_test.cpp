// Accesses of instructions by their code, in 64ths: encodings are written by hand, expectations follow Intel's manual.
#include <gtest/gtest.h>

#include <vector>

#include "plugin/access_units.h"

namespace tessera::tracer {
namespace {

struct Case {
    const char* text;
    std::vector<uint8_t> bytes;
    uint64_t units;
};

class AccessUnits : public ::testing::TestWithParam<Case> {};

TEST_P(AccessUnits, OfOneExecution) {
    Decoder decoder;
    const Case& c = GetParam();
    const Counted counted = counted_of(decoder, c.bytes.data(), c.bytes.size(), 0x1000, false);
    EXPECT_EQ(counted.units, c.units) << c.text;
    EXPECT_EQ(counted.insns, 1u) << c.text;
}

constexpr uint64_t one = 64, two = 128;

INSTANTIATE_TEST_SUITE_P(
    Instructions, AccessUnits,
    ::testing::Values(Case{"add rax, rcx", {0x48, 0x01, 0xc8}, 0}, Case{"lea rax, [rsi]", {0x48, 0x8d, 0x06}, 0},
                      Case{"mov rax, [rsi]", {0x48, 0x8b, 0x06}, one}, Case{"mov [rsi], rax", {0x48, 0x89, 0x06}, one},
                      Case{"add [rsi], rax", {0x48, 0x01, 0x06}, two}, Case{"inc qword [rsi]", {0x48, 0xff, 0x06}, two},
                      Case{"lock add [rsi], eax", {0xf0, 0x01, 0x06}, two}, Case{"xchg [rsi], eax", {0x87, 0x06}, two},
                      Case{"movups xmm0, [rsi]", {0x0f, 0x10, 0x06}, one}, Case{"vmovups ymm3, [rsi]", {0xc5, 0xfc, 0x10, 0x1e}, one},
                      Case{"vmovups [rsi], ymm3", {0xc5, 0xfc, 0x11, 0x1e}, one}, Case{"push rbx", {0x53}, one}, Case{"ret", {0xc3}, one},
                      Case{"push [rsi]", {0xff, 0x36}, two}, Case{"pop [rsi]", {0x8f, 0x06}, two}, Case{"call [rax]", {0xff, 0x10}, two},
                      Case{"jmp [rax]", {0xff, 0x20}, one}, Case{"leave", {0xc9}, one},
                      Case{"popcnt rax, rcx", {0xf3, 0x48, 0x0f, 0xb8, 0xc1}, 0}, Case{"movsb", {0xa4}, two},
                      Case{"stosq", {0x48, 0xab}, one}, Case{"lodsb", {0xac}, one}, Case{"repe cmpsb", {0xf3, 0xa6}, two},
                      Case{"rep movsb", {0xf3, 0xa4}, two}, Case{"rep stosq", {0xf3, 0x48, 0xab}, one},
                      Case{"vpgatherdd ymm0, [rax+ymm1*4], ymm2", {0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x88}, 8 * one},
                      Case{"no instruction", {0x06}, one}));

// A string of n bytes is recorded by lines of 64 bytes: its elements behind the first one add their share of a line.
TEST(AccessUnits, FurtherElementsOfAStringCountTheirBytesAndNoInstruction) {
    Decoder decoder;
    const auto further = [&](std::vector<uint8_t> bytes) { return counted_of(decoder, bytes.data(), bytes.size(), 0x1000, true); };
    EXPECT_EQ(further({0xf3, 0xa4}).units, 2u);
    EXPECT_EQ(further({0xf3, 0x48, 0xa5}).units, 16u);
    EXPECT_EQ(further({0xf3, 0x48, 0xab}).units, 8u);
    EXPECT_EQ(further({0xf3, 0x48, 0xab}).insns, 0u);
    EXPECT_EQ(further({0x48, 0xab}).insns, 1u);  // without rep it is an instruction
}

}  // namespace
}  // namespace tessera::tracer
