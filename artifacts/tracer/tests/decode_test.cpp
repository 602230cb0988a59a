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

using Bytes = std::vector<uint8_t>;

DecodedInsn decoded(const Bytes& bytes) { return Decoder().decode(bytes.data(), bytes.size(), 0x1000); }

/// Expected from the instruction set's manual: what is computed, and what is only copied.
TEST(Decode, AComputationWithAMemorySourceKeepsItsKind) {
    const Bytes move = {0x48, 0x8b, 0x06}, add = {0x48, 0x03, 0x06}, add_to_memory = {0x48, 0x01, 0x06}, pop = {0x58},
                popcnt = {0xf3, 0x48, 0x0f, 0xb8, 0x06}, multiply = {0xf2, 0x0f, 0x59, 0x10}, vector_move = {0xc5, 0xfc, 0x10, 0x1e},
                high_half = {0x66, 0x0f, 0x16, 0x06}, sign_extend = {0x48, 0x63, 0x06}, compare = {0x48, 0x39, 0x06},
                conditional_move = {0x48, 0x0f, 0x44, 0x06}, set = {0x0f, 0x94, 0x06};
    const auto kind = [](const Bytes& bytes, bool loads, bool stores) { return with_memory_kind(decoded(bytes), loads, stores).kind; };
    for (const Bytes& moves : {move, pop, vector_move, sign_extend}) EXPECT_EQ(kind(moves, true, false), InsnKind::load);
    for (const Bytes& computes : {add, popcnt, high_half, compare, conditional_move}) EXPECT_EQ(kind(computes, true, false), InsnKind::alu);
    EXPECT_EQ(kind(add_to_memory, true, true), InsnKind::load_store);
    EXPECT_EQ(kind(multiply, true, false), InsnKind::fp_multiply);
    EXPECT_EQ(kind(set, false, true), InsnKind::store);
    EXPECT_EQ(kind(add, false, false), InsnKind::alu);
}

/// The stack pointer needs no loaded data, the value that pop, leave and ret load does. So with the pointers of strings.
TEST(Decode, PointersAreWrittenEarly) {
    const struct {
        const char* name;
        Bytes bytes;
        uint64_t writes, early;
    } cases[] = {
        {"push rbx", {0x53}, rsp, rsp},
        {"pop rbx", {0x5b}, rbx | rsp, rsp},
        {"pop rsp", {0x5c}, rsp, 0},
        {"call", {0xe8, 0, 0, 0, 0}, rsp, rsp},
        {"ret", {0xc3}, rsp, rsp},
        {"leave", {0xc9}, rbp | rsp, rsp},
        {"lodsb", {0xac}, rax | rsi, rsi},
        {"stosb", {0xaa}, rdi, rdi},
        {"rep stosb", {0xf3, 0xaa}, rcx | rdi, rcx | rdi},
        {"rep movsq", {0xf3, 0x48, 0xa5}, rcx | rsi | rdi, rcx | rsi | rdi},
        {"repe cmpsb", {0xf3, 0xa6}, rcx | rsi | rdi | flags, rcx | rsi | rdi},
        {"mov rax, [rdi]", {0x48, 0x8b, 0x07}, rax, 0},
        {"add rsp, 8", {0x48, 0x83, 0xc4, 0x08}, rsp | flags, 0},
    };
    for (const auto& c : cases) {
        const trace::StaticInsn insn = decoded(c.bytes).insn;
        EXPECT_EQ(insn.writes, c.writes) << c.name;
        EXPECT_EQ(insn.early_writes, c.early) << c.name;
    }
    EXPECT_EQ(decoded({0xf3, 0xaa}).insn.reads & flags, 0u) << "rep stosb waits for no comparison";
}

TEST(Decode, FastStringsAreRepMovsAndRepStos) {
    for (const Bytes& fast : {Bytes{0xf3, 0xa4}, {0xf3, 0xa5}, {0xf3, 0x48, 0xa5}, {0xf3, 0xaa}, {0xf3, 0x48, 0xab}})
        EXPECT_TRUE(decoded(fast).fast_string);
    for (const Bytes& slow : {Bytes{0xa4}, {0xaa}, {0xf3, 0xa6}, {0xf2, 0xae}, {0xf3, 0xac}, {0xf2, 0x0f, 0x10, 0x06}})
        EXPECT_FALSE(decoded(slow).fast_string);
}

TEST(Decode, KindsOfBranches) {
    using enum trace::BranchKind;
    const std::pair<Bytes, trace::BranchKind> cases[] = {{{0x75, 0x10}, conditional},   {{0xe3, 0x02}, conditional},
                                                         {{0xe2, 0x02}, conditional},   {{0x0f, 0x84, 0, 0, 0, 0}, conditional},
                                                         {{0xeb, 0x10}, jump},          {{0xe9, 0, 0, 0, 0}, jump},
                                                         {{0xff, 0xe0}, indirect_jump}, {{0xff, 0x24, 0xc5, 0, 0, 0, 0}, indirect_jump},
                                                         {{0xe8, 0, 0, 0, 0}, call},    {{0xff, 0xd0}, indirect_call},
                                                         {{0xff, 0x10}, indirect_call}, {{0xc3}, ret},
                                                         {{0xf3, 0xc3}, ret},           {{0x53}, none},
                                                         {{0x48, 0x8b, 0x06}, none},    {{0x0f, 0x05}, none}};
    for (const auto& [bytes, kind] : cases) EXPECT_EQ(decoded(bytes).insn.branch, kind) << int(bytes[0]) << " " << int(bytes[1]);
}

}  // namespace
}  // namespace tessera::tracer::testing
