// translations.h - the translations of a stream by definition: byte by byte, one 4KB page after the other.
#pragma once

#include <algorithm>

#include "support/synthetic.h"

namespace tessera::sim::testing {

/// Calls see(address, second) for the address of each access and, with `second`, for the first byte of each further 4KB page that it
/// touches. A string instruction has an access for each line.
template <class See>
void each_translation(const MemoryStream& stream, See&& see) {
    for (const trace::Frame& frame : stream.frames()) {
        size_t at = 0;
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            const trace::StaticBlock& block = stream.blocks()[frame.block_ids[e]];
            for (size_t i = 0; i < frame.access_counts[e]; ++i, ++at) {
                const uint64_t address = frame.addresses[at];
                see(address, false);
                if (block.slots.empty()) continue;
                const trace::MemorySlot& slot = block.slots[std::min(i, block.slots.size() - 1)];
                if (block.insns[slot.insn].string != trace::StringPart::none) continue;
                for (uint64_t byte = address + 1; byte < address + slot.size_bytes; ++byte)
                    if (byte % 4096 == 0) see(byte, true);
            }
        }
    }
}

inline uint64_t crossings_of(const MemoryStream& stream) {
    uint64_t found = 0;
    each_translation(stream, [&](uint64_t, bool second) { found += second; });
    return found;
}

}  // namespace tessera::sim::testing
