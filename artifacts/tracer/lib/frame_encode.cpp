#include <algorithm>

#include "block_stream.h"
#include "bytes.h"
#include "frame_codec.h"

namespace tessera::trace {
namespace {

/// Exceptions as (gap since the last one, value) pairs behind their count.
class Exceptions {
public:
    void add(uint64_t position, uint64_t value) {
        put_varint(text_, position - last_);
        put_varint(text_, value);
        last_ = position;
        ++count_;
    }
    std::string finish() const {
        std::string out;
        put_varint(out, count_);
        return out + text_;
    }

private:
    std::string text_;
    uint64_t last_ = 0;
    uint64_t count_ = 0;
};

void put_section(std::string& out, const std::string& section) {
    put_varint(out, section.size());
    out += section;
}

/// One section as exceptions to what the blocks say: counts and directions.
struct Irregular {
    Exceptions counts, stores;
};

/// Byte `b` of every value, in a plane of its own, for each of `width` bytes.
template <typename Value>
void put_planes(std::string& out, const std::vector<Value>& values, int width) {
    for (int byte = 0; byte < width; ++byte) {
        const size_t at = out.size();
        out.resize(at + values.size());
        char* const to = out.data() + at;
        const Value* const from = values.data();
        for (size_t i = 0, size = values.size(); i < size; ++i) to[i] = static_cast<char>(from[i] >> (8 * byte));
    }
}

/// Codes and literals of all accesses. Counts and directions that differ from the blocks' go to `irregular`.
void encode_addresses(const FrameContent& frame, const SlotMap& slots, EncodeBuffers& b, Irregular& irregular) {
    uint64_t previous = 0;
    size_t access = 0;
    SlotState* const states = b.states.data();
    const uint8_t* const slot_stores = slots.is_store();
    for (size_t e = 0; e < frame.block_ids.size(); ++e) {
        const auto [first, expected, instructions] = slots.blocks()[frame.block_ids[e]];
        const uint32_t count = frame.access_counts[e];
        if (count != expected) irregular.counts.add(e, count);
        const uint32_t last_slot = first + (expected ? expected - 1 : 0);
        for (uint32_t i = 0; i < count; ++i, ++access) {
            const uint32_t slot = std::min(first + i, last_slot);
            const uint64_t address = frame.addresses[access];
            if (frame.is_store[access] != slot_stores[slot]) irregular.stores.add(access, frame.is_store[access]);
            SlotState& state = states[slot];
            const Code code = choose(state, address, previous);
            b.codes[access] = code;
            switch (code) {
                case stride_hit: case gap_hit: break;
                case last_1: b.near[0].push_back(static_cast<uint32_t>(address - state.last)); break;
                case prev_1: b.near[0].push_back(static_cast<uint32_t>(address - previous)); break;
                case last_2: b.near[1].push_back(static_cast<uint32_t>(address - state.last)); break;
                case prev_2: b.near[1].push_back(static_cast<uint32_t>(address - previous)); break;
                case last_3: b.near[2].push_back(static_cast<uint32_t>(address - state.last)); break;
                default:
                    b.far_addresses.push_back(address);
                    b.far_owners.push_back(slot);
                    b.spans[slot].add(address);
            }
            state.update(address, previous);
            previous = address;
        }
    }
}

}  // namespace

void SlotMap::add(const StaticBlock& block) {
    is_store_.resize(is_store_.size() - 8);
    blocks_.push_back({static_cast<uint32_t>(is_store_.size()), static_cast<uint16_t>(block.slots.size()),
                       static_cast<uint32_t>(block.insns.size())});
    for (const MemorySlot& slot : block.slots) is_store_.push_back(slot.is_store != 0);
    if (block.slots.empty()) is_store_.push_back(0);
    is_store_.resize(is_store_.size() + 8);
}

const std::string& encode_frame(const FrameContent& frame, const SlotMap& slots, EncodeBuffers& b) {
    Irregular irregular;
    b.codes.resize(frame.addresses.size());
    for (auto& values : b.near) values.clear();
    for (auto& values : b.far_values) values.clear();
    b.far_addresses.clear();
    b.far_owners.clear();
    b.states.assign(slots.slot_total(), SlotState{});
    b.spans.assign(slots.slot_total(), FarSpan{});
    b.far_slots.resize(slots.slot_total());
    encode_addresses(frame, slots, b, irregular);

    std::vector<uint32_t> touched;
    for (uint32_t slot = 0; slot < b.spans.size(); ++slot)
        if (b.spans[slot].seen) b.far_slots[slot] = b.spans[slot].slot(), touched.push_back(slot);
    for (size_t i = 0; i < b.far_addresses.size(); ++i) {
        const FarSlot& far = b.far_slots[b.far_owners[i]];
        b.far_values[far.width].push_back((b.far_addresses[i] - far.base) >> far.shift);
    }

    std::string& out = b.out;
    out.clear();
    put_section(out, encode_blocks(frame.block_ids, slots.block_total()));
    put_section(out, irregular.counts.finish());
    put_section(out, irregular.stores.finish());
    put_section(out, encode_far_slots(touched, b.far_slots));
    for (int width = 1; width <= max_far_width; ++width) put_varint(out, b.far_values[width].size());
    out.append(reinterpret_cast<const char*>(b.codes.data()), b.codes.size());
    for (int width = 1; width <= 3; ++width) put_planes(out, b.near[width - 1], width);
    for (int width = 1; width <= max_far_width; ++width) put_planes(out, b.far_values[width], width);
    return out;
}

Digest frame_digest(const FrameContent& frame) {
    Digester digester;
    digester.add(frame.block_ids.data(), frame.block_ids.size() * sizeof frame.block_ids[0]);
    digester.add(frame.access_counts.data(), frame.access_counts.size() * sizeof frame.access_counts[0]);
    digester.add(frame.addresses.data(), frame.addresses.size() * sizeof frame.addresses[0]);
    digester.add(frame.is_store.data(), frame.is_store.size());
    return digester.finish();
}

}  // namespace tessera::trace
