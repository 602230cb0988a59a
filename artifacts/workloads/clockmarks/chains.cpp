// chains.cpp - chains of dependent instructions: their time is a latency.
#include "clockmarks/mark.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kSteps = 1 << 20;

/// Repeats an instruction on %0 with the operand %1 sixteen times in a loop.
#define CHAIN(constraint, value, operand, instruction, clobbers)                                                                 \
    for (uint64_t k = 0; k < kSteps; k += 16)                                                                                    \
    __asm__ volatile(instruction instruction instruction instruction instruction instruction instruction instruction instruction \
                         instruction instruction instruction instruction instruction instruction instruction                     \
                     : "+" constraint(value)                                                                                     \
                     : constraint(operand)                                                                                       \
                     : clobbers)

TESSERA_KERNEL uint64_t exclusive_or(const Arena&) {
    uint64_t value = 1, operand = 3;
    CHAIN("r", value, operand, "xorq %1, %0\n", "cc");
    return value;
}

TESSERA_KERNEL uint64_t multiply(const Arena&) {
    uint64_t value = 1, operand = 1;
    CHAIN("r", value, operand, "imulq %1, %0\n", "cc");
    return value;
}

TESSERA_KERNEL uint64_t divide(const Arena&) {
    uint64_t quotient = uint64_t{1} << 40, divisor = 1;
    for (uint64_t k = 0; k < kSteps / 8; k += 4)
        __asm__ volatile(
            "xorl %%edx, %%edx\n divq %1\n xorl %%edx, %%edx\n divq %1\n xorl %%edx, %%edx\n divq %1\n xorl %%edx, %%edx\n divq %1"
            : "+a"(quotient)
            : "r"(divisor)
            : "rdx", "cc");
    return quotient;
}

TESSERA_KERNEL uint64_t fp_add(const Arena&) {
    double value = 1, operand = 0;
    CHAIN("x", value, operand, "addsd %1, %0\n", "cc");
    return uint64_t(value);
}

TESSERA_KERNEL uint64_t fp_multiply(const Arena&) {
    double value = 1, operand = 1;
    CHAIN("x", value, operand, "mulsd %1, %0\n", "cc");
    return uint64_t(value);
}

TESSERA_KERNEL uint64_t fp_divide(const Arena&) {
    double value = 1, operand = 1;
    for (uint64_t k = 0; k < kSteps / 8; k += 4)
        __asm__ volatile("divsd %1, %0\n divsd %1, %0\n divsd %1, %0\n divsd %1, %0" : "+x"(value) : "x"(operand));
    return uint64_t(value);
}

/// Six exclusive ors and two multiplications, in turn.
TESSERA_KERNEL uint64_t integer_mix(const Arena&) {
    uint64_t value = 1, zero = 0, one = 1;
    for (uint64_t k = 0; k < kSteps; k += 8)
        __asm__ volatile("xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n imulq %2, %0\n xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n imulq %2, %0"
                         : "+r"(value)
                         : "r"(zero), "r"(one)
                         : "cc");
    return value;
}

/// Two independent chains, of multiplications and of additions.
TESSERA_KERNEL uint64_t fp_mix(const Arena&) {
    double product = 1, sum = 1, one = 1, zero = 0;
    for (uint64_t k = 0; k < kSteps; k += 8)
        __asm__ volatile(
            "mulsd %2, %0\n addsd %3, %1\n mulsd %2, %0\n addsd %3, %1\n mulsd %2, %0\n addsd %3, %1\n mulsd %2, %0\n addsd %3, %1"
            : "+x"(product), "+x"(sum)
            : "x"(one), "x"(zero));
    return uint64_t(product + sum);
}

}  // namespace

std::vector<Mark> chain_marks() {
    return {
        {"chain-alu", "step", kSteps, 4096, no_preparation, exclusive_or, constant<1>},
        {"chain-multiply", "step", kSteps, 4096, no_preparation, multiply, constant<1>},
        {"chain-divide", "step", kSteps / 8, 4096, no_preparation, divide, constant<uint64_t{1} << 40>},
        {"chain-fp-add", "step", kSteps, 4096, no_preparation, fp_add, constant<1>},
        {"chain-fp-multiply", "step", kSteps, 4096, no_preparation, fp_multiply, constant<1>},
        {"chain-fp-divide", "step", kSteps / 8, 4096, no_preparation, fp_divide, constant<1>},
        {"chain-integer-mix", "step", kSteps, 4096, no_preparation, integer_mix, constant<1>},
        {"chain-fp-mix", "step", kSteps, 4096, no_preparation, fp_mix, constant<2>},
    };
}

}  // namespace tessera::workloads
