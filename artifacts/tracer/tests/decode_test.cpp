// Known instructions become known register bits and kinds.
#include <gtest/gtest.h>

#include "plugin/decode.h"

namespace tessera::tracer::testing {
namespace {

using trace::InsnKind;

constexpr uint64_t rax = 1 << 0, rcx = 1 << 1, rdx = 1 << 2, rbx = 1 << 3, rsp = 1 << 4, rbp = 1 << 5, rsi = 1 << 6, rdi = 1 << 7,
                   r8 = 1 << 8, r15 = 1 << 15, flags = 1 << 16;
constexpr uint64_t vector(int i) { return uint64_t{1} << (17 + i); }

struct Case {
    const char* name;
    std::vector<uint8_t> bytes;
    uint64_t reads, writes, address_reads;
    InsnKind kind;
};

const Case cases[] = {
    {"mov_rax_from_rdi_rcx8", {0x48, 0x8b, 0x04, 0xcf}, rdi | rcx, rax, rdi | rcx, InsnKind::alu},
    {"mov_to_rdi_from_rsi", {0x48, 0x89, 0x37}, rdi | rsi, 0, rdi, InsnKind::alu},
    {"add_eax_ebx", {0x01, 0xd8}, rax | rbx, rax | flags, 0, InsnKind::alu},
    {"add_mem_rax_r8", {0x4c, 0x01, 0x00}, rax | r8, flags, rax, InsnKind::alu},
    {"lea_is_no_access", {0x48, 0x8d, 0x04, 0x0f}, rdi | rcx, rax, 0, InsnKind::alu},
    {"xor_zero_waits_for_nothing", {0x31, 0xc0}, 0, rax | flags, 0, InsnKind::alu},
    {"mov_al_is_rax", {0x88, 0xc8}, rcx, rax, 0, InsnKind::alu},
    {"cmp_r15_writes_flags_only", {0x49, 0x39, 0xc7}, r15 | rax, flags, 0, InsnKind::alu},
    {"jne_reads_flags", {0x75, 0x10}, flags, 0, 0, InsnKind::branch},
    {"cmove_reads_flags", {0x0f, 0x44, 0xc1}, rax | rcx | flags, rax, 0, InsnKind::alu},
    {"call_pushes", {0xe8, 0, 0, 0, 0}, rsp, rsp, rsp, InsnKind::branch},
    {"ret_pops", {0xc3}, rsp, rsp, rsp, InsnKind::branch},
    {"push_rbx", {0x53}, rbx | rsp, rsp, rsp, InsnKind::alu},
    {"leave", {0xc9}, rbp | rsp, rbp | rsp, rbp, InsnKind::alu},
    {"imul_rax_rcx", {0x48, 0x0f, 0xaf, 0xc1}, rax | rcx, rax | flags, 0, InsnKind::multiply},
    {"div_rcx", {0x48, 0xf7, 0xf1}, rax | rdx | rcx, rax | rdx | flags, 0, InsnKind::divide},
    {"addsd_xmm0_xmm1", {0xf2, 0x0f, 0x58, 0xc1}, vector(0) | vector(1), vector(0), 0, InsnKind::fp_add},
    {"mulsd_xmm2_mem", {0xf2, 0x0f, 0x59, 0x10}, vector(2) | rax, vector(2), rax, InsnKind::fp_multiply},
    {"divsd_xmm0_xmm1", {0xf2, 0x0f, 0x5e, 0xc1}, vector(0) | vector(1), vector(0), 0, InsnKind::fp_divide},
    {"vaddpd_ymm0_ymm1_ymm2", {0xc5, 0xf5, 0x58, 0xc2}, vector(1) | vector(2), vector(0), 0, InsnKind::fp_add},
    {"vmovups_ymm3_from_rsi", {0xc5, 0xfc, 0x10, 0x1e}, rsi, vector(3), rsi, InsnKind::alu},
    {"vfmadd231pd_ymm0_ymm1_ymm2", {0xc4, 0xe2, 0xf5, 0xb8, 0xc2}, vector(0) | vector(1) | vector(2), vector(0), 0, InsnKind::fp_multiply},
    {"vpxor_zero", {0xc5, 0xf1, 0xef, 0xc9}, 0, vector(1), 0, InsnKind::alu},
    {"nop_with_operand", {0x0f, 0x1f, 0x40, 0x00}, 0, 0, 0, InsnKind::nop},
    {"syscall_is_other", {0x0f, 0x05}, 0, rcx, 0, InsnKind::other},
};

class Decode : public ::testing::TestWithParam<Case> {};

TEST_P(Decode, RegistersAndKind) {
    Decoder decoder;
    const Case& c = GetParam();
    const DecodedInsn got = decoder.decode(c.bytes.data(), c.bytes.size(), 0x1000);
    EXPECT_EQ(got.insn.kind, c.kind);
    EXPECT_EQ(got.insn.length_bytes, c.bytes.size());
    EXPECT_EQ(got.insn.address_reads, c.address_reads);
    if (c.kind == InsnKind::other) return;
    EXPECT_EQ(got.insn.reads, c.reads);
    EXPECT_EQ(got.insn.writes, c.writes);
}

INSTANTIATE_TEST_SUITE_P(Known, Decode, ::testing::ValuesIn(cases), [](const auto& info) { return info.param.name; });

TEST(Decode, UnknownBytesBecomeOther) {
    const uint8_t bytes[] = {0x06};
    EXPECT_EQ(Decoder().decode(bytes, 1, 0).insn.kind, InsnKind::other);
}

TEST(Decode, OnlyMovesBecomeLoadsAndStores) {
    trace::StaticInsn move{}, multiply{};
    multiply.kind = InsnKind::fp_multiply;
    set_memory_kind(move, true, true);
    set_memory_kind(multiply, true, false);
    EXPECT_EQ(move.kind, InsnKind::load_store);
    EXPECT_EQ(multiply.kind, InsnKind::fp_multiply);
}

}  // namespace
}  // namespace tessera::tracer::testing
