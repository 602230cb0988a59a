// SPDX-License-Identifier: GPL-2.0-only
#include "access_units.h"

#include <algorithm>
#include <string_view>

namespace tessera::tracer {
namespace {

/// Accesses of an operand in memory: a read-modify-write makes two. capstone 4 leaves `access` empty for some AVX forms,
/// whose first operand is the destination.
uint64_t accesses_of(const cs_x86& x86, int operand) {
    const uint8_t access = x86.operands[operand].access;
    if (access == 0) return 1;
    return ((access & CS_AC_READ) != 0) + ((access & CS_AC_WRITE) != 0);
}

/// A gather loads each element of its destination.
uint64_t gathered(const cs_x86& x86, int operand) {
    return std::max<uint64_t>(1, x86.operands[0].size / std::max<uint64_t>(1, x86.operands[operand].size));
}

/// Whether the instruction uses the stack besides its operands.
bool uses_stack(std::string_view name) {
    if (name == "popcnt") return false;
    const size_t space = name.rfind(' ');  // behind prefixes such as `bnd` or `repz`
    if (space != std::string_view::npos) name = name.substr(space + 1);
    return name.starts_with("push") || name.starts_with("pop") || name.starts_with("call") || name.starts_with("ret") || name == "leave" ||
           name == "enter";
}

}  // namespace

Counted counted_of(Decoder& decoder, const uint8_t* bytes, size_t size, uint64_t pc, bool first_in_block) {
    const Access certain = access_of(decoder, bytes, size, pc);
    if (certain != Access::unknown) return {certain == Access::none ? 0 : units_per_access, 1};
    const bool fast_string = decoder.decode(bytes, size, pc).fast_string, further = fast_string && first_in_block;
    const cs_insn* insn = decoder.disassemble(bytes, size, pc);
    if (!insn) return {units_per_access, 1};
    const std::string_view name = insn->mnemonic;
    const bool gathers = name.find("gather") != std::string_view::npos;
    const cs_x86& x86 = insn->detail->x86;
    uint64_t units = uses_stack(name) ? units_per_access : 0;
    for (int i = 0; i < x86.op_count; ++i) {
        if (x86.operands[i].type != X86_OP_MEM) continue;
        if (fast_string) units += further ? x86.operands[i].size : units_per_access;
        else units += (gathers ? gathered(x86, i) : accesses_of(x86, i)) * units_per_access;
    }
    return {units, further ? 0u : 1u};
}

}  // namespace tessera::tracer
