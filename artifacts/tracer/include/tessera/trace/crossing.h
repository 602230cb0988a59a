// crossing.h - accesses that go on in the next 4KB page, by the sizes of memory slots.
//
// An access of a string instruction never does: it stands for what the instruction does in one line, and the next line has an access of
// its own (StringPart).
#pragma once

#include <algorithm>

#include "tessera/trace/trace.h"

namespace tessera::trace {

/// Whether this access of an execution of the block goes on in the next page. `number`: of the access in its execution; which slot it
/// belongs to, see Frame.
inline bool crosses_page(const StaticBlock& block, size_t number, uint64_t address) {
    if (block.slots.empty()) return false;
    const MemorySlot& slot = block.slots[std::min(number, block.slots.size() - 1)];
    return address % 4096 + slot.size_bytes > 4096 && block.insns[slot.insn].string == StringPart::none;
}

}  // namespace tessera::trace
