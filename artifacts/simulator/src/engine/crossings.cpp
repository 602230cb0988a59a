#include "engine/crossings.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"

namespace tessera::sim {

void check_slot_sizes(const std::vector<trace::StaticBlock>& blocks) {
    for (const trace::StaticBlock& block : blocks)
        for (size_t slot = 0; slot < block.slots.size(); ++slot) {
            const unsigned bytes = block.slots[slot].size_bytes;
            if (bytes >= 1 && bytes <= trace::max_access_bytes) continue;
            char pc[32];
            std::snprintf(pc, sizeof pc, "0x%llx", static_cast<unsigned long long>(block.pc));
            throw Refusal("a trace whose accesses have 1 to 64 bytes",
                          "slot " + std::to_string(slot) + " of the block at " + pc + " has " + std::to_string(bytes),
                          "record the program again");
        }
}

Crossings::Crossings(const std::vector<trace::StaticBlock>& blocks) {
    for (const trace::StaticBlock& block : blocks) {
        const uint32_t slots = uint32_t(std::max<size_t>(block.slots.size(), 1));
        blocks_.push_back({uint32_t(sizes_.size()), slots});
        for (uint32_t slot = 0; slot < slots; ++slot) {
            sizes_.push_back(uint8_t(trace::bytes_that_cross(block, slot)));
            largest_ = std::max<uint64_t>(largest_, sizes_.back());
        }
    }
}

/// Sixteen accesses at a time, of which most often none comes near the end of its page. Their pages are compared with those of the last
/// bytes that they may have, in vectors that any x86-64 has.
void Crossings::find(Chunk& chunk) {
    typedef uint64_t Four __attribute__((vector_size(32), aligned(8), may_alias));
    constexpr size_t step = 16;
    found_.clear();
    execution_ = first_access_ = 0;
    const uint64_t most = largest_ - 1;
    size_t i = 0;
    for (; i + step <= chunk.accesses; i += step) {
        const Four* const four = reinterpret_cast<const Four*>(chunk.addresses + i);
        Four differ = (four[0] + most) ^ four[0];
        for (size_t k = 1; k < step / 4; ++k) differ |= (four[k] + most) ^ four[k];
        if ((differ[0] | differ[1] | differ[2] | differ[3]) & 4096) [[unlikely]]
            find_among(chunk, i, i + step);
    }
    find_among(chunk, i, chunk.accesses);
    chunk.crossings = found_.size();
    chunk.crossing = found_.data();
}

void Crossings::find_among(const Chunk& chunk, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
        if (crosses_page(chunk.addresses[i], largest_) && crosses(chunk, i)) found_.push_back(uint32_t(i));
}

/// pre: called in ascending order.
bool Crossings::crosses(const Chunk& chunk, size_t access) {
    constexpr size_t step = 16;
    const uint16_t* const counts = chunk.access_counts;
    while (execution_ + step <= chunk.executions) {
        uint32_t sum = 0;
        for (size_t k = 0; k < step; ++k) sum += counts[execution_ + k];
        if (first_access_ + sum > access) break;
        first_access_ += sum, execution_ += step;
    }
    while (first_access_ + counts[execution_] <= access) first_access_ += counts[execution_++];
    const Block& block = blocks_[chunk.block_ids[execution_]];
    const size_t slot = std::min<size_t>(access - first_access_, block.slots - 1);
    return crosses_page(chunk.addresses[access], sizes_[block.first_size + slot]);
}

}  // namespace tessera::sim
