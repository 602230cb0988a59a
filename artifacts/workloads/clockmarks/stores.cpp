// stores.cpp - stores by level, loads of what was just stored, words that are read and written.
#include "clockmarks/mark.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kKB = 1 << 10, kMB = 1 << 20, kSteps = 1 << 16;

/// A word is stored and loaded again, in a chain: the time of a step is that of forwarding.
TESSERA_KERNEL uint64_t forward(const Arena& arena) {
    uint64_t value = 1;
    for (uint64_t k = 0; k < kSteps; k += 4)
        __asm__ volatile(
            "movq %0, (%1)\n movq (%1), %0\n movq %0, 64(%1)\n movq 64(%1), %0\n movq %0, 128(%1)\n movq 128(%1), %0\n movq %0, 192(%1)\n movq 192(%1), %0"
            : "+r"(value)
            : "r"(arena.base)
            : "memory");
    return value;
}

/// A counter in memory: add to a word that the step before wrote.
TESSERA_KERNEL uint64_t counter(const Arena& arena) {
    arena.words()[0] = 0;
    for (uint64_t k = 0; k < kSteps; k += 4)
        __asm__ volatile("addq $1, (%0)\n addq $1, (%0)\n addq $1, (%0)\n addq $1, (%0)" : : "r"(arena.base) : "memory", "cc");
    return arena.words()[0];
}

/// Writes one word of each line.
template <uint64_t passes>
TESSERA_KERNEL uint64_t line_stores(const Arena& arena) {
    for (uint64_t pass = 0; pass < passes; ++pass)
        for (char *at = arena.base, *end = at + arena.bytes; at != end; at += 64)
            __asm__ volatile("movq %0, (%1)" : : "r"(pass), "r"(at) : "memory");
    return arena.words()[arena.word_count() - 8];
}

/// Adds 1 to words at random places. The sum of all words tells how often.
template <uint64_t count>
TESSERA_KERNEL void update(const Arena& arena, uint64_t by) {
    uint64_t state = 1;
    const uint64_t mask = arena.word_count() - 1;
    for (uint64_t k = 0; k < count; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        arena.words()[state >> 33 & mask] += by;
    }
}
template <uint64_t count>
uint64_t updates(const Arena& arena) {
    update<count>(arena, 1);
    return 0;
}

/// Copies half of the array to the other, word by word.
template <uint64_t passes>
TESSERA_KERNEL uint64_t copy(const Arena& arena) {
    const uint64_t half = arena.word_count() / 2;
    for (uint64_t pass = 0; pass < passes; ++pass)
        for (uint64_t i = 0; i < half; ++i) {
            uint64_t word;
            __asm__ volatile("movq (%1), %0\n movq %0, (%2)"
                             : "=&r"(word)
                             : "r"(arena.words() + i), "r"(arena.words() + half + i)
                             : "memory");
        }
    return arena.words()[arena.word_count() - 1];
}

template <uint64_t bytes, uint64_t passes>
Mark lines(const char* name) {
    return {name, "line", passes * (bytes / 64), bytes, no_preparation, line_stores<passes>, constant<passes - 1>};
}
template <uint64_t bytes, uint64_t count>
Mark random_updates(const char* name) {
    return {name, "update", count, bytes, no_preparation, updates<count>, constant<0>};
}

}  // namespace

std::vector<Mark> store_marks() {
    return {
        {"forward-chain", "step", kSteps, 4096, no_preparation, forward, constant<1>},
        {"memory-counter", "step", kSteps, 4096, no_preparation, counter, constant<kSteps>},
        lines<256 * kKB, 16>("stores-l2"),
        lines<4 * kMB, 2>("stores-l3"),
        lines<64 * kMB, 1>("stream-write"),
        random_updates<256 * kKB, 100000>("update-l2"),
        random_updates<4 * kMB, 100000>("update-l3"),
        random_updates<128 * kMB, 100000>("update-memory"),
        {"copy-loop-l1", "word", 64 * 1024, 16 * kKB, no_preparation, copy<64>, constant<0>},
    };
}

}  // namespace tessera::workloads
