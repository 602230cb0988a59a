// SPDX-License-Identifier: GPL-2.0-only
// event.h - the events that the running program writes to a buffer: 8 bytes per block execution and per access.
//
// A block event is the address of its TranslatedBlock with bit 63 set. A memory event is the guest's
// virtual address (user addresses stay below 2^47) under a tag of instruction number and direction.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::tracer {

using Event = uint64_t;

constexpr Event block_flag = uint64_t{1} << 63;
constexpr int tag_shift = 48;
constexpr uint64_t address_mask = (uint64_t{1} << tag_shift) - 1;
constexpr int store_tag_bit = 10;
constexpr uint32_t store_tag = 1u << store_tag_bit;  ///< in a tag: this access stores
constexpr uint32_t max_block_insns = 1u << 10;

/// Guest code as QEMU translated it. Lives until the program ends, since events point at it.
struct TranslatedBlock {
    uint64_t pc = 0;
    std::vector<uint8_t> bytes;
    std::vector<uint8_t> insn_bytes;  ///< length of each instruction
    uint32_t first_insn = 0;          ///< number of its first instruction in memory tags
    uint32_t number = 0;              ///< dense, for the builder's tables
    bool has_head = false;            ///< its first access makes the block's event too (head.h)
    Event head_tag = 0;               ///< tag of that access
    bool kernel = false;              ///< no code: one line that a system call copies (kernel_blocks.h)
    bool kernel_begin = false;        ///< the first line of the copy
    bool begins_window = false;       ///< no code: the events behind it belong to the next window (window.h)
    uint64_t access_units = 0;        ///< what one execution adds to the position in the region (access_units.h)
    uint64_t insns = 0;               ///< instructions that one execution retires
};

inline Event block_event(const TranslatedBlock* block) { return reinterpret_cast<uint64_t>(block) | block_flag; }
inline const TranslatedBlock* block_of(Event event) { return reinterpret_cast<const TranslatedBlock*>(event & ~block_flag); }
inline Event memory_tag(uint32_t insn, bool is_store) { return static_cast<Event>(insn | (is_store ? store_tag : 0)) << tag_shift; }
inline uint32_t insn_of(Event event) { return static_cast<uint32_t>(event >> tag_shift) & (store_tag - 1); }
inline uint32_t tag_of(Event event) { return static_cast<uint32_t>(event >> tag_shift); }

}  // namespace tessera::tracer
