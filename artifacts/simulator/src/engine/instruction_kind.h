// instruction_kind.h - what both forms of the core ask about a kind of instruction.
#pragma once

#include "tessera/trace/trace.h"

namespace tessera::sim {

inline constexpr unsigned stack_pointer = 4;  ///< rsp, among the registers of trace::StaticInsn

/// The front end goes elsewhere and comes back: branch.call_cycles.
inline bool calls_or_returns(trace::BranchKind kind) {
    return kind == trace::BranchKind::call || kind == trace::BranchKind::indirect_call || kind == trace::BranchKind::ret;
}

/// It needs an ALU port; a load, a store and a nop do not.
inline bool computes(trace::InsnKind kind) {
    return kind != trace::InsnKind::load && kind != trace::InsnKind::store && kind != trace::InsnKind::nop;
}

}  // namespace tessera::sim
