// frame_codec.h - encodes one frame of the dynamic stream as bytes, before zstd.
//
// Sections: block sequence, exceptions to "as many accesses as the block has slots", exceptions to "loads
// and stores as the slots say", far slots (far_slots.h), counts of far literals by width, one code per address
// (predictor.h), then the literal bytes of the misses, each byte position in a plane of its own: high bytes repeat
// and low bytes hold alignment, which zstd's entropy coder sees only when they are apart.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "digest.h"
#include "far_slots.h"
#include "predictor.h"
#include "tessera/trace/trace.h"

namespace tessera::trace {

/// What the codec needs of the static blocks, in flat arrays.
class SlotMap {
public:
    struct Block {
        uint32_t first_slot;
        uint16_t slot_count;
        uint32_t instructions;
    };

    void add(const StaticBlock& block);

    size_t block_total() const { return blocks_.size(); }
    const Block* blocks() const { return blocks_.data(); }
    uint32_t first_slot(uint32_t block) const { return blocks_[block].first_slot; }
    uint16_t slot_count(uint32_t block) const { return blocks_[block].slot_count; }
    uint64_t instructions(uint32_t block) const { return blocks_[block].instructions; }
    size_t slot_total() const { return is_store_.size() - 8; }
    const uint8_t* is_store() const { return is_store_.data(); }

private:
    std::vector<Block> blocks_;
    // A block without slots gets one, for accesses it was not expected to make. Eight more elements at the end let
    // the decoder copy eight at a time.
    std::vector<uint8_t> is_store_ = std::vector<uint8_t>(8);
};

/// The content of a frame, wherever it lies; `is_store` holds 0 or 1.
struct FrameContent {
    std::span<const uint32_t> block_ids;
    std::span<const uint16_t> access_counts;
    std::span<const uint64_t> addresses;
    std::span<const uint8_t> is_store;
};

inline FrameContent content_of(const Frame& frame) { return {frame.block_ids, frame.access_counts, frame.addresses, frame.is_store}; }

/// A growing array without the check of push_back: the caller reserves memory for a whole frame first.
template <typename Value>
struct Filled {
    std::vector<Value> room;
    size_t count = 0;

    void clear(size_t most) {
        if (room.size() < most) room.resize(most);
        count = 0;
    }
    std::span<const Value> values() const { return {room.data(), count}; }
};

/// Reused for every frame: new memory would cause a page fault per 4KB each time.
struct EncodeBuffers {
    std::vector<uint8_t> codes;
    Filled<uint8_t> near_1;              ///< literals of 1, 2 and 3 bytes
    Filled<uint16_t> near_2;
    Filled<uint32_t> near_3;
    Filled<uint64_t> far_addresses;
    Filled<uint32_t> far_owners;         ///< their slots
    Filled<uint64_t> far_values[max_far_width + 1];
    std::vector<SlotState> states;
    std::vector<FarSpan> spans;
    std::vector<FarSlot> far_slots;
    std::string out;
};

/// The result lies in `buffers`.
const std::string& encode_frame(const FrameContent& frame, const SlotMap& slots, EncodeBuffers& buffers);

/// Kept from frame to frame, like the encoder's.
struct DecodeBuffers {
    std::vector<SlotState> states;
    std::vector<FarSlot> far_slots;
};

/// Sizes of a frame according to the index.
struct FrameShape {
    uint64_t executions = 0;
    uint64_t accesses = 0;
    uint64_t instructions = 0;
};

/// Fills everything but index and first_*; returns what is wrong, or nullptr.
const char* decode_frame(const std::string& text, const FrameShape& shape, const SlotMap& slots, DecodeBuffers& buffers, Frame& out);

/// Digest of the decoded content of a frame; does not depend on the encoding.
Digest frame_digest(const FrameContent& frame);

}  // namespace tessera::trace
