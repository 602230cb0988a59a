// branches.cpp - branches that are predictable or not, calls and returns, the stack.
#include "clockmarks/mark.h"
#include "pointer_chase.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kBranches = 1 << 16, kKB = 1 << 10, kMB = 1 << 20;

/// Words 0 or 1.
void random_bits(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = mix64(3, i) & 1;
}
void patterned_bits(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = i % 5 == 0 || i % 7 == 3;
}
void same_bits(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = 1;
}

/// A branch on each word, over one instruction. The words come from L1D or L2, well ahead of the branch.
TESSERA_KERNEL uint64_t branch_on_words(const Arena& arena) {
    uint64_t count = 0;
    for (const uint64_t *word = arena.words(), *end = word + kBranches; word != end; ++word)
        __asm__ volatile("cmpq $0, (%1)\n je 1f\n addq $1, %0\n 1:" : "+r"(count) : "r"(word) : "cc", "memory");
    return count;
}
uint64_t sum_of_words(const Arena& arena) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < kBranches; ++i) count += arena.words()[i];
    return count;
}

/// A chase through a large array with a branch on a random bit of each element: it resolves when its load has come.
constexpr uint64_t kElements = 65536;
void chase_with_bits(const Arena& arena) {
    const auto tour = tour_of(kElements, Order::random, 5);
    link(arena.base, tour, 64, 1);
    for (uint64_t i = 0; i < kElements; ++i) arena.words()[i * 8 + 1] = mix64(9, i) & 1;
}
TESSERA_KERNEL uint64_t branch_on_misses(const Arena& arena) {
    uint64_t count = 0;
    void* at = arena.base;
    for (uint64_t i = 0; i < kElements; ++i) {
        __asm__ volatile("cmpq $0, 8(%1)\n je 1f\n addq $1, %0\n 1:" : "+r"(count) : "r"(at) : "cc", "memory");
        at = *static_cast<void**>(at);
    }
    return count;
}
uint64_t bits_of_elements(const Arena& arena) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < kElements; ++i) count += arena.words()[i * 8 + 1];
    return count;
}

TESSERA_KERNEL uint64_t fibonacci(uint64_t n) {
    uint64_t smaller;
    if (n < 2) return n;
    smaller = fibonacci(n - 1);
    __asm__ volatile("" : "+r"(smaller));  // one call at a time, as written
    return smaller + fibonacci(n - 2);
}
uint64_t fib_24(const Arena&) { return fibonacci(24); }

constexpr uint64_t kPushes = 8192;
TESSERA_KERNEL uint64_t push_pop(const Arena&) {
    uint64_t last = 0;
    for (uint64_t k = 0; k < kPushes; ++k)
        __asm__ volatile(
            "subq $128, %%rsp\n pushq %1\n pushq %1\n pushq %1\n pushq %1\n pushq %1\n pushq %1\n popq %0\n popq %0\n popq %0\n popq %0\n popq %0\n popq %0\n"
            "addq $128, %%rsp"
            : "=&r"(last)
            : "r"(k)
            : "memory", "cc");
    return last;
}

constexpr uint64_t kCalls = 8192;
TESSERA_KERNEL uint64_t leaf(uint64_t x) {
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}
TESSERA_KERNEL uint64_t calls(const Arena&) {
    uint64_t value = 0;
    for (uint64_t k = 0; k < kCalls; ++k) value = leaf(leaf(leaf(leaf(value))));
    return value;
}

/// Recursion to a depth of eight.
TESSERA_KERNEL uint64_t deep(uint64_t depth) {
    if (depth == 0) return 1;
    uint64_t below = deep(depth - 1);
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}
TESSERA_KERNEL uint64_t deep_calls(const Arena&) {
    uint64_t value = 0;
    for (uint64_t k = 0; k < kCalls; ++k) value += deep(8);
    return value;
}

using Function = uint64_t (*)(uint64_t);
TESSERA_KERNEL uint64_t add_1(uint64_t x) {
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}
TESSERA_KERNEL uint64_t add_2(uint64_t x) {
    __asm__ volatile("" : "+r"(x));
    return x + 2;
}
TESSERA_KERNEL uint64_t add_3(uint64_t x) {
    __asm__ volatile("" : "+r"(x));
    return x + 3;
}
TESSERA_KERNEL uint64_t add_4(uint64_t x) {
    __asm__ volatile("" : "+r"(x));
    return x + 4;
}
constexpr Function kFunctions[] = {add_1, add_2, add_3, add_4};

void random_functions(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = reinterpret_cast<uint64_t>(kFunctions[mix64(11, i) & 3]);
}
void one_function(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = reinterpret_cast<uint64_t>(add_1);
}
TESSERA_KERNEL uint64_t indirect(const Arena& arena) {
    uint64_t value = 0;
    for (uint64_t k = 0; k < 2 * kCalls; ++k) value = reinterpret_cast<Function>(arena.words()[k])(value);
    return value;
}
uint64_t indirect_again(const Arena& arena) {
    uint64_t value = 0;
    for (uint64_t k = 0; k < 2 * kCalls; ++k)
        for (uint64_t f = 0; f < 4; ++f)
            if (arena.words()[k] == reinterpret_cast<uint64_t>(kFunctions[f])) value += f + 1;
    return value;
}

}  // namespace

std::vector<Mark> branch_marks() {
    return {
        {"branch-same", "branch", kBranches, 512 * kKB, same_bits, branch_on_words, sum_of_words},
        {"branch-random", "branch", kBranches, 512 * kKB, random_bits, branch_on_words, sum_of_words},
        {"branch-pattern", "branch", kBranches, 512 * kKB, patterned_bits, branch_on_words, sum_of_words},
        {"branch-on-miss", "branch", kElements, 4 * kMB, chase_with_bits, branch_on_misses, bits_of_elements},
        {"fib-24", "call", 150049, 4096, no_preparation, fib_24, constant<46368>},
        {"push-pop", "six pushes and pops", kPushes, 4096, no_preparation, push_pop, constant<kPushes - 1>},
        {"calls", "call", 4 * kCalls, 4096, no_preparation, calls, constant<4 * kCalls>},
        {"calls-deep", "call", 9 * kCalls, 4096, no_preparation, deep_calls, constant<9 * kCalls>},
        {"indirect-same", "call", 2 * kCalls, 128 * kKB, one_function, indirect, indirect_again},
        {"indirect-random", "call", 2 * kCalls, 128 * kKB, random_functions, indirect, indirect_again},
    };
}

}  // namespace tessera::workloads
