// SPDX-License-Identifier: GPL-2.0-only
#include "head.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace tessera::tracer {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Moves whose one memory operand is accessed once, in whole.
bool is_move(std::string_view name) {
    return is_one_of(name,
                     {"mov", "movabs", "movzx", "movsx", "movsxd", "movq", "movd", "movss", "movsd", "vmovq", "vmovd", "vmovss", "vmovsd"});
}

/// Operations that only read their memory operand where that is the source.
bool is_arithmetic(std::string_view name) {
    return is_one_of(name, {"add", "sub", "and", "or", "xor", "cmp", "test", "imul", "adc", "sbb"});
}

/// Instructions without a memory operand that access memory all the same, or may.
bool is_implicit(std::string_view name) {
    return name.starts_with("push") || name.starts_with("pop") || name.starts_with("call") || name.starts_with("ret") ||
           is_one_of(name, {"leave", "enter", "xlatb", "int", "int3", "iret", "iretq", "maskmovq", "maskmovdqu", "vmaskmovdqu"});
}

}  // namespace

Access access_of(Decoder& decoder, const uint8_t* bytes, size_t size, uint64_t pc) {
    const cs_insn* insn = decoder.disassemble(bytes, size, pc);
    if (!insn) return Access::unknown;
    const std::string_view name = insn->mnemonic;  // a prefix (rep, lock) is part of it, so those names match nothing below
    const cs_x86& x86 = insn->detail->x86;
    int memory_operands = 0, memory_at = 0;
    for (int i = 0; i < x86.op_count; ++i)
        if (x86.operands[i].type == X86_OP_MEM) ++memory_operands, memory_at = i;
    if (name == "lea" || name.starts_with("nop") || name == "endbr64" || name.starts_with("prefetch")) return Access::none;
    if (memory_operands == 0) {
        const bool registers_only = x86.op_count > 0 && x86.operands[0].type == X86_OP_REG;
        const bool immediate = x86.op_count > 0 && x86.operands[0].type == X86_OP_IMM;
        if (name == "push") return registers_only || immediate ? Access::one_store : Access::unknown;
        if (name == "pop") return registers_only ? Access::one_load : Access::unknown;
        if (name == "call") return Access::one_store;
        if (name == "ret") return Access::one_load;
        if (is_implicit(name)) return Access::unknown;
        // Jumps, register operations and those without operands (cdq, ...); what is not listed above has a memory operand.
        return name.find(' ') == std::string_view::npos ? Access::none : Access::unknown;
    }
    if (memory_operands != 1 || x86.op_count != 2 || x86.operands[memory_at].size > 8) return Access::unknown;
    const bool source = memory_at == 1;
    if (is_move(name)) return source ? Access::one_load : Access::one_store;
    if (is_arithmetic(name) && source) return Access::one_load;
    if (name == "cmp" || name == "test") return Access::one_load;
    return Access::unknown;
}

}  // namespace tessera::tracer
