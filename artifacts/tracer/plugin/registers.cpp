// SPDX-License-Identifier: GPL-2.0-only
#include "registers.h"

#include <initializer_list>

namespace tessera::tracer {
namespace {

struct Family {
    unsigned names[5];  // 64, 32, 16, low 8, high 8 bits
};

// In encoding order, because that is the order of the bits.
constexpr Family families[8] = {
    {{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH}},   {{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH}},
    {{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH}},   {{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH}},
    {{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, X86_REG_SPL}}, {{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, X86_REG_BPL}},
    {{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, X86_REG_SIL}}, {{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, X86_REG_DIL}},
};

constexpr bool within(unsigned reg, unsigned first, unsigned count) { return reg >= first && reg < first + count; }

}  // namespace

uint64_t register_bit(unsigned reg) {
    for (int i = 0; i < 8; ++i)
        for (const unsigned name : families[i].names)
            if (reg == name) return uint64_t{1} << i;
    // capstone numbers r8..r15, their b, d and w forms, and the vector registers consecutively.
    for (const unsigned first : {X86_REG_R8, X86_REG_R8B, X86_REG_R8D, X86_REG_R8W})
        if (within(reg, first, 8)) return uint64_t{1} << (8 + reg - first);
    for (const unsigned first : {X86_REG_XMM0, X86_REG_YMM0})
        if (within(reg, first, 16)) return uint64_t{1} << (17 + reg - first);
    return reg == X86_REG_EFLAGS ? flags_bit : 0;
}

}  // namespace tessera::tracer
