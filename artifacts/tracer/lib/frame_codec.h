// frame_codec.h - one frame of the dynamic stream as bytes, before zstd.
//
// Sections: block sequence, exceptions to "as many accesses as the block has slots", exceptions to "loads
// and stores as the slots say", one code per address (predictor.h), then the literal bytes of the misses,
// each byte position in a plane of its own: high bytes repeat and low bytes hold alignment, which zstd's
// entropy coder sees only when they are apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "digest.h"
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

/// Kept from frame to frame: fresh megabytes would cost a page fault per 4KB each time.
struct EncodeBuffers {
    std::string codes;
    std::vector<uint64_t> literals[5];
    std::vector<SlotState> states;
    std::string out;
};

/// The result lies in `buffers`.
const std::string& encode_frame(const Frame& frame, const SlotMap& slots, EncodeBuffers& buffers);

/// Sizes that the index promises for a frame.
struct FrameShape {
    uint64_t executions = 0;
    uint64_t accesses = 0;
    uint64_t instructions = 0;
};

/// Fills everything but index and first_*; returns what is wrong, or nullptr.
const char* decode_frame(const std::string& text, const FrameShape& shape, const SlotMap& slots,
                         std::vector<SlotState>& states, Frame& out);

/// Digest of the decoded content of a frame, whatever its coding.
Digest frame_digest(const Frame& frame);

}  // namespace tessera::trace
