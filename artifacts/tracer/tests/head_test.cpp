// Instructions that certainly make one access: encodings are written by hand, to test the disassembler too.
#include <gtest/gtest.h>

#include <vector>

#include "plugin/head.h"

namespace tessera::tracer {
namespace {

struct Case {
    const char* text;
    std::vector<uint8_t> bytes;
    Access access;
};

class Head : public ::testing::TestWithParam<Case> {};

TEST_P(Head, Access) {
    Decoder decoder;
    const Case& c = GetParam();
    EXPECT_EQ(access_of(decoder, c.bytes.data(), c.bytes.size(), 0x1000), c.access) << c.text;
}

INSTANTIATE_TEST_SUITE_P(
    Instructions, Head,
    ::testing::Values(
        Case{"mov rax, [rsi]", {0x48, 0x8b, 0x06}, Access::one_load}, Case{"mov [rsi], rax", {0x48, 0x89, 0x06}, Access::one_store},
        Case{"movzx eax, byte [rsi]", {0x0f, 0xb6, 0x06}, Access::one_load}, Case{"add rax, [rsi]", {0x48, 0x03, 0x06}, Access::one_load},
        Case{"add [rsi], rax", {0x48, 0x01, 0x06}, Access::unknown}, Case{"cmp [rsi], rax", {0x48, 0x39, 0x06}, Access::one_load},
        Case{"movsd xmm0, [rsi]", {0xf2, 0x0f, 0x10, 0x06}, Access::one_load},
        Case{"movups xmm0, [rsi]", {0x0f, 0x10, 0x06}, Access::unknown},
        Case{"vmovups ymm3, [rsi]", {0xc5, 0xfc, 0x10, 0x1e}, Access::unknown}, Case{"push rbx", {0x53}, Access::one_store},
        Case{"push [rsi]", {0xff, 0x36}, Access::unknown}, Case{"pop rbx", {0x5b}, Access::one_load}, Case{"ret", {0xc3}, Access::one_load},
        Case{"call +0", {0xe8, 0, 0, 0, 0}, Access::one_store}, Case{"call rax", {0xff, 0xd0}, Access::one_store},
        Case{"call [rax]", {0xff, 0x10}, Access::unknown}, Case{"leave", {0xc9}, Access::unknown},
        Case{"rep movsb", {0xf3, 0xa4}, Access::unknown}, Case{"movsb", {0xa4}, Access::unknown},
        Case{"movsd (string)", {0xa5}, Access::unknown}, Case{"stosq", {0x48, 0xab}, Access::unknown},
        Case{"lock add [rsi], eax", {0xf0, 0x01, 0x06}, Access::unknown}, Case{"xchg [rsi], eax", {0x87, 0x06}, Access::unknown},
        Case{"cmpxchg [rsi], ecx", {0x0f, 0xb1, 0x0e}, Access::unknown}, Case{"lea rax, [rsi]", {0x48, 0x8d, 0x06}, Access::none},
        Case{"add rax, rcx", {0x48, 0x01, 0xc8}, Access::none}, Case{"nop [rax]", {0x0f, 0x1f, 0x00}, Access::none},
        Case{"prefetcht0 [rsi]", {0x0f, 0x18, 0x0e}, Access::none}, Case{"jne", {0x75, 0x00}, Access::none},
        Case{"cqo", {0x48, 0x99}, Access::none}, Case{"syscall", {0x0f, 0x05}, Access::none},
        Case{"no instruction", {0x06}, Access::unknown}));

}  // namespace
}  // namespace tessera::tracer
