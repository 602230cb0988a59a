// widths.cpp - independent instructions: their time is a width of the core.
#include "clockmarks/mark.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kCount = 1 << 21;

TESSERA_KERNEL uint64_t nops(const Arena&) {
    for (uint64_t k = 0; k < kCount; k += 32) __asm__ volatile(".rept 32\n nop\n .endr");
    return 0;
}

/// Eight chains of one-cycle instructions.
TESSERA_KERNEL uint64_t alu(const Arena&) {
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (uint64_t k = 0; k < kCount; k += 32)
        __asm__ volatile(
            ".rept 4\n xorq $1, %0\n xorq $1, %1\n xorq $1, %2\n xorq $1, %3\n xorq $1, %4\n xorq $1, %5\n xorq $1, %6\n xorq $1, %7\n .endr"
            : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h)
            :
            : "cc");
    return a | b | c | d | e | f | g | h;
}

/// Loads of 32 lines of L1D into registers that nothing reads.
TESSERA_KERNEL uint64_t loads(const Arena& arena) {
    for (uint64_t k = 0; k < kCount; k += 32)
        __asm__ volatile(
            ".set offset, 0\n .rept 8\n movq offset(%0), %%rax\n movq offset+64(%0), %%rcx\n movq offset+128(%0), %%rdx\n movq offset+192(%0), %%rsi\n"
            " .set offset, offset + 256\n .endr"
            :
            : "r"(arena.base)
            : "rax", "rcx", "rdx", "rsi", "memory");
    return 0;
}

/// Stores to 32 words of four lines, one after another.
TESSERA_KERNEL uint64_t stores(const Arena& arena) {
    for (uint64_t k = 0; k < kCount; k += 32)
        __asm__ volatile(".set offset, 0\n .rept 32\n movq %1, offset(%0)\n .set offset, offset + 8\n .endr"
                         :
                         : "r"(arena.base), "r"(k)
                         : "memory");
    return arena.words()[31] / kCount;
}

/// Two loads, a store and five operations, in turn.
TESSERA_KERNEL uint64_t mixed(const Arena& arena) {
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0;
    for (uint64_t k = 0; k < kCount; k += 32)
        __asm__ volatile(
            ".set offset, 0\n .rept 4\n movq offset(%5), %%rax\n xorq $1, %0\n xorq $1, %1\n movq offset+64(%5), %%rcx\n xorq $1, %2\n xorq $1, %3\n"
            " movq %5, offset+2048(%5)\n xorq $1, %4\n .set offset, offset + 128\n .endr"
            : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e)
            : "r"(arena.base)
            : "rax", "rcx", "cc", "memory");
    return a | b | c | d | e;
}

/// A sum over 16 KB by additions from memory: each is a load and an operation, in one chain.
TESSERA_KERNEL uint64_t sum(const Arena& arena) {
    uint64_t total = 0;
    for (uint64_t pass = 0; pass < 128; ++pass)
        for (const uint64_t *word = arena.words(), *end = word + 2048; word != end; word += 8)
            __asm__ volatile(
                "addq (%1), %0\n addq 8(%1), %0\n addq 16(%1), %0\n addq 24(%1), %0\n addq 32(%1), %0\n addq 40(%1), %0\n addq 48(%1), %0\n addq 56(%1), %0"
                : "+r"(total)
                : "r"(word)
                : "cc", "memory");
    return total;
}

void number_words(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = i;
}

}  // namespace

std::vector<Mark> width_marks() {
    return {
        {"width-nop", "instruction", kCount, 4096, no_preparation, nops, constant<0>},
        {"width-alu", "instruction", kCount, 4096, no_preparation, alu, constant<0>},
        {"width-load", "load", kCount, 4096, no_preparation, loads, constant<0>},
        {"width-store", "store", kCount, 4096, no_preparation, stores, constant<0>},
        {"width-mixed", "instruction", kCount, 8192, no_preparation, mixed, constant<0>},
        {"sum-l1", "load", 128 * 2048, 16384, number_words, sum, constant<uint64_t{128} * 2048 * 2047 / 2>},
    };
}

}  // namespace tessera::workloads
