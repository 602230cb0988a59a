// champsim_record.h - ChampSim's 64-byte trace record and its register numbers.
//
// ChampSim writes pin's register numbers; only three have a meaning to it: 6 is the stack pointer, 25 the
// flags, 26 the instruction pointer. Number 0 and address 0 mean "none".
//
// Import: 6 and 25 become our stack pointer and flags bits, 26 has no bit (a write of it marks branches,
// as is_branch does), any other number n becomes bit n mod 33 - never the bit of the stack pointer or the
// flags, whose meaning is fixed; such an n takes the next free bit. Different numbers may therefore share a
// bit: a dependence may be added, none is lost. Export writes bit b as number 64 + b, so that no exported
// number has a special meaning by accident, and import undoes that exactly.
//
// The kind of a branch is in what it reads, as ChampSim has it (its instruction.h): calls and returns the stack pointer,
// calls and conditional branches the instruction pointer, conditional ones also the flags or a register, indirect ones
// a register without the instruction pointer. Beyond that, one that loads its target (a return aside) is indirect.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tessera/trace/trace.h"

namespace tessera::trace::cli {

struct ChampsimRecord {
    uint64_t ip;
    uint8_t is_branch;
    uint8_t branch_taken;
    uint8_t destination_registers[2];
    uint8_t source_registers[4];
    uint64_t destination_memory[2];
    uint64_t source_memory[4];
};
static_assert(sizeof(ChampsimRecord) == 64);

constexpr uint8_t champsim_stack_pointer = 6, champsim_flags = 25, champsim_instruction_pointer = 26;
constexpr uint8_t exported_bits = 64;  ///< exported numbers start here
constexpr int register_bits = 33, stack_pointer_bit = 4, flags_bit = 16;

/// Our bit of a ChampSim register, or 0 for none.
inline uint64_t bit_of_register(uint8_t number) {
    if (number == 0 || number == champsim_instruction_pointer) return 0;
    int bit = number % register_bits;
    if (number == champsim_stack_pointer) bit = stack_pointer_bit;
    else if (number == champsim_flags) bit = flags_bit;
    else if (number >= exported_bits && number < exported_bits + register_bits) bit = number - exported_bits;
    else if (bit == stack_pointer_bit || bit == flags_bit) ++bit;
    return uint64_t{1} << bit;
}

inline BranchKind branch_kind_of(const ChampsimRecord& record) {
    if (!record.is_branch) return BranchKind::none;
    const auto reads = [&](auto wanted) {
        return std::any_of(std::begin(record.source_registers), std::end(record.source_registers), wanted);
    };
    const auto is = [](uint8_t number) { return [number](uint8_t reg) { return reg == number; }; };
    const bool pointer = reads(is(champsim_instruction_pointer)), flags = reads(is(champsim_flags));
    const bool other = reads([](uint8_t reg) {
        return reg != 0 && reg != champsim_stack_pointer && reg != champsim_flags && reg != champsim_instruction_pointer;
    });
    const bool loads =
        std::any_of(std::begin(record.source_memory), std::end(record.source_memory), [](uint64_t address) { return address != 0; });
    if (reads(is(champsim_stack_pointer)))
        return !pointer ? BranchKind::ret : other || loads ? BranchKind::indirect_call : BranchKind::call;
    if (flags || (pointer && other)) return BranchKind::conditional;
    return other || loads ? BranchKind::indirect_jump : BranchKind::jump;
}

inline bool reads_instruction_pointer(BranchKind kind) {
    return kind == BranchKind::conditional || kind == BranchKind::call || kind == BranchKind::indirect_call;
}

inline uint8_t register_of_bit(int bit) {
    if (bit == stack_pointer_bit) return champsim_stack_pointer;
    if (bit == flags_bit) return champsim_flags;
    return static_cast<uint8_t>(exported_bits + bit);
}

}  // namespace tessera::trace::cli
