// crossing.h - accesses that go on in the next 4KB page, by the sizes of memory slots.
//
// An access of a string instruction never does: it stands for what the instruction does in one line, and the next line has an access of
// its own as soon as an element begins there (StringPart). If an unaligned `rep movsq` or `rep stosq` reaches the next page with its last
// element only, that page is not translated.
#pragma once

#include <algorithm>

#include "tessera/trace/trace.h"

namespace tessera::trace {

inline bool crosses_page(uint64_t address, uint64_t bytes) { return address % 4096 + bytes > 4096; }

/// Bytes of access `number` of an execution of the block (which slot it belongs to, see Frame); 1 if it never crosses: in a string
/// instruction, or in a block without slots.
inline uint64_t bytes_that_cross(const StaticBlock& block, size_t number) {
    if (block.slots.empty()) return 1;
    const MemorySlot& slot = block.slots[std::min(number, block.slots.size() - 1)];
    return block.insns[slot.insn].string == StringPart::none ? slot.size_bytes : 1;
}

/// Whether this access goes on in the next page.
inline bool crosses_page(const StaticBlock& block, size_t number, uint64_t address) {
    return crosses_page(address, max_access_bytes) && crosses_page(address, bytes_that_cross(block, number));
}

}  // namespace tessera::trace
