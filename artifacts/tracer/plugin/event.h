// SPDX-License-Identifier: GPL-2.0-only
// event.h - the events that the running program writes to a buffer: 8 bytes per block execution and per access.
//
// A block event is the address of its TranslatedBlock with bit 63 set. A memory event is the guest's virtual address (user
// addresses stay below 2^47) under a tag: number of the instruction, directions, and size, as QEMU executes the access.
// QEMU runs an atomic read-modify-write as one access with both directions, and splits vectors into parts of 8 bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::tracer {

using Event = uint64_t;

constexpr Event block_flag = uint64_t{1} << 63;
constexpr int tag_shift = 48;
constexpr uint64_t address_mask = (uint64_t{1} << tag_shift) - 1;
constexpr uint32_t max_block_insns = 1u << 10;
constexpr uint32_t load_tag = 1u << 10, store_tag = 1u << 11;  ///< in a tag: this access loads, stores; an atomic one does both
constexpr int size_tag_shift = 12;                             ///< in a tag: log2 of the bytes, three bits

/// Guest code as QEMU translated it. Lives until the program ends, since events point at it.
struct TranslatedBlock {
    uint64_t pc = 0;
    std::vector<uint8_t> bytes;
    std::vector<uint8_t> insn_bytes;  ///< length of each instruction
    uint32_t first_insn = 0;          ///< number of its first instruction in memory tags
    uint32_t number = 0;              ///< dense, for the builder's tables
    bool has_head = false;            ///< its first access makes the block's event too (head.h)
    Event head_tag = 0;               ///< tag of that access; of its instruction only, until it was executed
    bool kernel = false;              ///< no code: one line that a system call copies (kernel_blocks.h)
    bool kernel_begin = false;        ///< the first line of the copy
    bool begins_window = false;       ///< no code: the events behind it belong to the next window (window.h)
    uint64_t access_units = 0;        ///< what one execution adds to the position in the region (access_units.h)
    uint64_t insns = 0;               ///< instructions that one execution retires
};

inline Event block_event(const TranslatedBlock* block) { return reinterpret_cast<uint64_t>(block) | block_flag; }
inline const TranslatedBlock* block_of(Event event) { return reinterpret_cast<const TranslatedBlock*>(event & ~block_flag); }
inline Event insn_tag(uint32_t insn) { return static_cast<Event>(insn) << tag_shift; }
/// The part of a tag that QEMU tells: `directions` are load_tag, store_tag or both.
inline Event access_tag(uint32_t directions, int size_shift) {
    return (static_cast<Event>(directions) | static_cast<Event>(size_shift) << size_tag_shift) << tag_shift;
}
inline uint32_t tag_of(Event event) { return static_cast<uint32_t>(event >> tag_shift); }
inline uint32_t insn_of_tag(uint32_t tag) { return tag & (max_block_insns - 1); }
inline uint32_t insn_of(Event event) { return insn_of_tag(tag_of(event)); }
inline uint32_t bytes_of_tag(uint32_t tag) { return 1u << (tag >> size_tag_shift & 7); }

}  // namespace tessera::tracer
