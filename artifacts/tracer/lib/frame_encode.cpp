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
void put_planes(std::string& out, std::span<const Value> values, int width) {
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
    const size_t total = frame.addresses.size();
    b.codes.resize(std::max(b.codes.size(), total));
    b.near_1.clear(total), b.near_2.clear(total), b.near_3.clear(total);
    b.far_addresses.clear(total), b.far_owners.clear(total);
    uint8_t* near_1 = b.near_1.room.data();
    uint16_t* near_2 = b.near_2.room.data();
    uint32_t* near_3 = b.near_3.room.data();
    uint64_t* far_address = b.far_addresses.room.data();
    uint32_t* far_owner = b.far_owners.room.data();
    uint8_t* code_at = b.codes.data();
    const uint64_t* address_at = frame.addresses.data();
    const uint8_t* store_at = frame.is_store.data();
    SlotState* const states = b.states.data();
    const SlotMap::Block* const blocks = slots.blocks();
    const uint8_t* const slot_stores = slots.is_store();
    uint64_t previous = 0;
    for (size_t e = 0, executions = frame.block_ids.size(); e < executions; ++e) {
        const auto [first, expected, instructions] = blocks[frame.block_ids[e]];
        const uint32_t count = frame.access_counts[e];
        if (count != expected) [[unlikely]]
            irregular.counts.add(e, count);
        const uint32_t last_slot = first + (expected ? expected - 1 : 0);
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t slot = std::min(first + i, last_slot);
            const uint64_t address = *address_at++;
            if (*store_at != slot_stores[slot]) [[unlikely]]
                irregular.stores.add(static_cast<size_t>(store_at - frame.is_store.data()), *store_at);
            ++store_at;
            SlotState& state = states[slot];
            const uint64_t from_last = address - state.last, from_previous = address - previous;
            const Code code = choose(state, address, previous);
            *code_at++ = code;
            switch (code) {
                case stride_hit:
                case gap_hit: break;
                case last_1: *near_1++ = static_cast<uint8_t>(from_last); break;
                case prev_1: *near_1++ = static_cast<uint8_t>(from_previous); break;
                case last_2: *near_2++ = static_cast<uint16_t>(from_last); break;
                case prev_2: *near_2++ = static_cast<uint16_t>(from_previous); break;
                case last_3: *near_3++ = static_cast<uint32_t>(from_last); break;
                default: *far_address++ = address, *far_owner++ = slot;
            }
            state.update(address, previous);
            previous = address;
        }
    }
    b.near_1.count = static_cast<size_t>(near_1 - b.near_1.room.data());
    b.near_2.count = static_cast<size_t>(near_2 - b.near_2.room.data());
    b.near_3.count = static_cast<size_t>(near_3 - b.near_3.room.data());
    b.far_addresses.count = b.far_owners.count = static_cast<size_t>(far_address - b.far_addresses.room.data());
}

/// What the far misses of each slot span, then each as a number within; returns the slots that have any.
std::vector<uint32_t> encode_far(size_t slot_total, EncodeBuffers& b) {
    b.spans.assign(slot_total, FarSpan{});
    b.far_slots.resize(slot_total);
    const size_t count = b.far_addresses.count;
    for (size_t i = 0; i < count; ++i) b.spans[b.far_owners.room[i]].add(b.far_addresses.room[i]);
    std::vector<uint32_t> touched;
    bool widths[max_far_width + 1] = {};
    for (uint32_t slot = 0; slot < slot_total; ++slot) {
        if (!b.spans[slot].seen) continue;
        b.far_slots[slot] = b.spans[slot].slot(), touched.push_back(slot);
        widths[b.far_slots[slot].width] = true;
    }
    for (int width = 1; width <= max_far_width; ++width) b.far_values[width].clear(widths[width] ? count : 0);
    for (size_t i = 0; i < count; ++i) {
        const FarSlot& slot = b.far_slots[b.far_owners.room[i]];
        auto& values = b.far_values[slot.width];
        values.room[values.count++] = (b.far_addresses.room[i] - slot.base) >> slot.shift;
    }
    return touched;
}

}  // namespace

void SlotMap::add(const StaticBlock& block) {
    is_store_.resize(is_store_.size() - 8);
    blocks_.push_back({static_cast<uint32_t>(is_store_.size()), static_cast<uint16_t>(block.slots.size()), instructions_of(block)});
    for (const MemorySlot& slot : block.slots) is_store_.push_back(slot.is_store != 0);
    if (block.slots.empty()) is_store_.push_back(0);
    is_store_.resize(is_store_.size() + 8);
}

const std::string& encode_frame(const FrameContent& frame, const SlotMap& slots, EncodeBuffers& b) {
    Irregular irregular;
    b.states.assign(slots.slot_total(), SlotState{});
    encode_addresses(frame, slots, b, irregular);
    const std::vector<uint32_t> touched = encode_far(slots.slot_total(), b);

    std::string& out = b.out;
    out.clear();
    put_section(out, encode_blocks(frame.block_ids, slots.block_total()));
    put_section(out, irregular.counts.finish());
    put_section(out, irregular.stores.finish());
    put_section(out, encode_far_slots(touched, b.far_slots));
    for (int width = 1; width <= max_far_width; ++width) put_varint(out, b.far_values[width].count);
    out.append(reinterpret_cast<const char*>(b.codes.data()), frame.addresses.size());
    put_planes(out, b.near_1.values(), 1);
    put_planes(out, b.near_2.values(), 2);
    put_planes(out, b.near_3.values(), 3);
    for (int width = 1; width <= max_far_width; ++width) put_planes(out, b.far_values[width].values(), width);
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
