// crossings.h - accesses that cross a 4KB page: which ones they are, and when they need a second translation.
//
// A crossing access is translated twice: its own address, and then the first byte of the next 4KB page. If one larger page holds both,
// once. It is one access, and data caches see the line of its first byte only. Its second translation comes behind all that the access
// does: its line, and what prefetchers ask for. In the clock, both begin together, and the access waits for both.
//
// Sizes are those of memory slots (instruction_pc.h says which slot an access has), 1 to 64 bytes. An access of a string instruction never
// crosses: it stands for what the instruction does in one line, and the next line has an access of its own as soon as an element begins
// there. If an unaligned `rep movsq` or `rep stosq` reaches the next page with its last element only, that page is not translated.
#pragma once

#include <vector>

#include "engine/functional.h"
#include "os/address_space.h"
#include "tessera/trace/crossing.h"

namespace tessera::sim {

using trace::crosses_page;
/// The first byte behind the 4KB page of an address.
inline VirtAddr next_4kb_page(VirtAddr address) { return VirtAddr((address.value | 4095) + 1); }
/// Whether one page holds both, under the layout or mapping and in the design. Throws Unmapped.
inline bool in_one_page(const AddressSpace& space, bool only_4kb_pages, VirtAddr one, VirtAddr other) {
    const PageSize size = only_4kb_pages ? PageSize::small_4kb : space.page_size(one);
    return page_of(one, size) == page_of(other, size);
}

/// Throws Refusal for a slot of 0 or more than 64 bytes.
void check_slot_sizes(const std::vector<trace::StaticBlock>& blocks);

/// Finds the crossing accesses of chunks.
class Crossings {
public:
    explicit Crossings(const std::vector<trace::StaticBlock>& blocks);
    /// Sets chunk.crossings and chunk.crossing, which are valid until the next call.
    void find(Chunk& chunk);

private:
    void find_among(const Chunk& chunk, size_t begin, size_t end);
    bool crosses(const Chunk& chunk, size_t access);

    struct Block {
        uint32_t first_size, slots;
    };
    std::vector<Block> blocks_;
    std::vector<uint8_t> sizes_;  ///< of slots, 1 where none crosses; a block without slots has one
    uint64_t largest_ = 1;
    size_t execution_ = 0, first_access_ = 0;  ///< of the chunk, where the search is
    std::vector<uint32_t> found_;
};

}  // namespace tessera::sim
