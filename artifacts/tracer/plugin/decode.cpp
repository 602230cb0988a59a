// SPDX-License-Identifier: GPL-2.0-only
#include "decode.h"

#include <string_view>

#include "kinds.h"
#include "registers.h"
#include "tessera/common/error.h"

namespace tessera::tracer {
namespace {

using trace::BranchKind;
using trace::InsnKind;

bool in_group(const cs_detail& detail, uint8_t group) {
    for (int i = 0; i < detail.groups_count; ++i)
        if (detail.groups[i] == group) return true;
    return false;
}

/// The operation of a string instruction without its size ("movs"), or an empty string.
std::string_view string_op(const cs_insn& insn) {
    const std::string_view name = insn.mnemonic;
    // With the rep prefix capstone's mnemonic is "rep movsb"; SSE's movsd and cmpsd have no rsi or rdi.
    const size_t space = name.rfind(' ');
    const std::string_view bare = space == std::string_view::npos ? name : name.substr(space + 1);
    for (const std::string_view op : {"movs", "cmps", "scas", "stos", "lods"})
        if (bare.starts_with(op) && bare.size() == op.size() + 1) {
            const std::string_view operands = insn.op_str;
            if (operands.find("[rsi]") != std::string_view::npos || operands.find("[rdi]") != std::string_view::npos) return op;
        }
    return {};
}

BranchKind branch_kind(const cs_insn& insn, const cs_detail& detail) {
    const bool direct = detail.x86.op_count > 0 && detail.x86.operands[0].type == X86_OP_IMM;
    if (in_group(detail, X86_GRP_RET)) return BranchKind::ret;
    if (in_group(detail, X86_GRP_CALL)) return direct ? BranchKind::call : BranchKind::indirect_call;
    if (insn.id == X86_INS_LOOP || insn.id == X86_INS_LOOPE || insn.id == X86_INS_LOOPNE) return BranchKind::conditional;
    if (!in_group(detail, X86_GRP_JUMP)) return BranchKind::none;
    if (insn.id != X86_INS_JMP && insn.id != X86_INS_LJMP) return BranchKind::conditional;
    return direct ? BranchKind::jump : BranchKind::indirect_jump;
}

/// xor r, r and similar instructions produce zero for any r, so they do not depend on r.
bool is_zero_idiom(const cs_insn& insn, const cs_x86& x86) {
    const std::string_view name = insn.mnemonic;
    const bool clears = name == "xor" || name == "sub" || name == "pxor" || name == "xorps" || name == "xorpd" || name == "vpxor" ||
                        name == "vxorps" || name == "vxorpd" || name == "psubd" || name == "psubq";
    const int last = x86.op_count - 1;
    return clears && last >= 1 && x86.operands[last].type == X86_OP_REG && x86.operands[last - 1].type == X86_OP_REG &&
           x86.operands[last].reg == x86.operands[last - 1].reg;
}

void add_operands(const cs_insn& insn, const cs_x86& x86, bool touches_memory, DecodedInsn& out) {
    for (int i = 0; i < x86.op_count; ++i) {
        const cs_x86_op& op = x86.operands[i];
        if (op.type == X86_OP_REG) {
            const uint64_t bit = register_bit(op.reg);
            // capstone 4 leaves `access` empty for some AVX forms; their first operand is the destination.
            const bool unknown = op.access == 0;
            if (unknown ? i > 0 : (op.access & CS_AC_READ) != 0) out.insn.reads |= bit;
            if (unknown ? i == 0 : (op.access & CS_AC_WRITE) != 0) out.insn.writes |= bit;
        } else if (op.type == X86_OP_MEM) {
            const uint64_t bits = register_bit(op.mem.base) | register_bit(op.mem.index);
            out.insn.reads |= bits;
            if (touches_memory) out.insn.address_reads |= bits;
            if (touches_memory && op.size > out.operand_bytes) out.operand_bytes = op.size;
        }
    }
    if (is_zero_idiom(insn, x86)) out.insn.reads &= ~register_bit(x86.operands[x86.op_count - 1].reg);
}

/// pop rsp and its like: the stack pointer is what they load.
bool loads_stack_pointer(const cs_x86& x86) {
    return x86.op_count == 1 && x86.operands[0].type == X86_OP_REG && (x86.operands[0].access & CS_AC_WRITE) != 0 &&
           register_bit(x86.operands[0].reg) == rsp_bit;
}

}  // namespace

Decoder::Decoder() {
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK || cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
        throw Error("libcapstone", "this build cannot decode x86-64", "install libcapstone with x86 support");
    insn_ = cs_malloc(handle_);
}

Decoder::~Decoder() {
    if (insn_) cs_free(insn_, 1);
    cs_close(&handle_);
}

const cs_insn* Decoder::disassemble(const uint8_t* bytes, size_t size, uint64_t pc) {
    return cs_disasm_iter(handle_, &bytes, &size, &pc, insn_) ? insn_ : nullptr;
}

DecodedInsn Decoder::decode(const uint8_t* bytes, size_t size, uint64_t pc) {
    DecodedInsn out;
    out.insn.kind = InsnKind::other;
    out.insn.length_bytes = static_cast<uint8_t>(size);
    if (!disassemble(bytes, size, pc)) return out;

    const cs_detail& detail = *insn_->detail;
    const std::string_view name = insn_->mnemonic;
    const bool lea = insn_->id == X86_INS_LEA;
    out.insn.branch = branch_kind(*insn_, detail);
    out.insn.kind = out.insn.branch != BranchKind::none ? InsnKind::branch : kind_of_mnemonic(name);
    const std::string_view string = string_op(*insn_);
    if (!string.empty()) out.insn.kind = InsnKind::alu;
    out.moves = string.empty() ? is_move(name) : string == "movs" || string == "stos" || string == "lods";
    out.fast_string = (string == "movs" || string == "stos") && name.starts_with("rep");

    for (int i = 0; i < detail.regs_read_count; ++i) out.insn.reads |= register_bit(detail.regs_read[i]);
    for (int i = 0; i < detail.regs_write_count; ++i) out.insn.writes |= register_bit(detail.regs_write[i]);
    const bool touches_memory = !lea && out.insn.kind != InsnKind::nop;
    add_operands(*insn_, detail.x86, touches_memory, out);
    if (out.insn.kind == InsnKind::nop) out.insn.reads = out.insn.writes = 0;

    // Implicit stack accesses take their address from rsp (leave: from rbp).
    const bool push_or_pop =
        name.starts_with("push") || name.starts_with("pop") || in_group(detail, X86_GRP_CALL) || in_group(detail, X86_GRP_RET);
    if (push_or_pop && name != "popcnt") {
        out.insn.address_reads |= rsp_bit;
        out.insn.reads |= rsp_bit;
        out.insn.writes |= rsp_bit;
        if (!loads_stack_pointer(detail.x86)) out.insn.early_writes |= rsp_bit;
    }
    if (insn_->id == X86_INS_LEAVE) {
        out.insn.address_reads |= rbp_bit;
        out.insn.reads |= rbp_bit;
        out.insn.writes |= rbp_bit | rsp_bit;
        out.insn.early_writes |= rsp_bit;
    }
    if (!string.empty()) {
        out.insn.reads &= ~flags_bit;  // the direction flag, which nothing computes
        out.insn.early_writes |= out.insn.writes & (rcx_bit | rsi_bit | rdi_bit);
    }
    // Which elements a masked store has differs between its executions; QEMU loads all of a masked load's.
    const bool masked_store = name.find("maskmov") != std::string_view::npos && detail.x86.operands[0].type == X86_OP_MEM;
    out.separate_elements = !string.empty() || masked_store || name.find("gather") != std::string_view::npos;
    return out;
}

trace::StaticInsn with_memory_kind(const DecodedInsn& decoded, bool loads, bool stores) {
    trace::StaticInsn insn = decoded.insn;
    if (insn.kind != InsnKind::alu) return insn;
    if (loads && stores) insn.kind = InsnKind::load_store;
    else if (stores) insn.kind = InsnKind::store;
    else if (loads && decoded.moves) insn.kind = InsnKind::load;
    return insn;
}

}  // namespace tessera::tracer
