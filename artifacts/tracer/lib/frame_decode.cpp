#include <algorithm>
#include <cstring>

#include "block_stream.h"
#include "bytes.h"
#include "far_literals.h"
#include "frame_codec.h"

namespace tessera::trace {
namespace {

// Literals of 1, 2 and 3 bytes, each byte position in a plane of its own. Far literals come after them.
constexpr int near_widths = 3;
constexpr int near_width[code_count] = {0, 0, 1, 1, 2, 2, 3, 0};
using Planes = const uint8_t * [near_widths + 1][near_widths];  // by width in bytes

int64_t sign_extend(uint64_t value, int bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }

/// Calls apply(position, value) for each exception; false when malformed or not below `limit`.
template <typename Apply>
bool read_exceptions(Cursor in, uint64_t limit, Apply apply) {
    uint64_t position = 0;
    for (uint64_t count = in.get_varint(); in.ok() && count > 0; --count) {
        const uint64_t gap = in.get_varint();
        if (gap >= limit - position) return false;
        position += gap;
        if (!apply(position, in.get_varint())) return false;
    }
    return in.ok() && in.at_end();
}

/// How often `code` occurs. Sums of at most 240 fit a byte, so the compiler counts 16 or more at a time.
uint64_t occurrences(const uint8_t* codes, uint64_t size, uint8_t code) {
    uint64_t total = 0;
    for (uint64_t at = 0; at < size; at += 240) {
        uint8_t sum = 0;
        for (uint64_t i = at, end = std::min(at + 240, size); i < end; ++i) sum = static_cast<uint8_t>(sum + (codes[i] == code));
        total += sum;
    }
    return total;
}

/// Whether the first `count` <= 8 of eight readable codes are all stride_hit (0).
bool all_stride_hits(const uint8_t* code, uint32_t count) {
    uint64_t word;
    std::memcpy(&word, code, 8);
    return count == 0 || word << (64 - 8 * count) == 0;
}

/// The inner loop of reading. Sizes were checked before. The pointers are local and restrict because the
/// compiler must otherwise assume that every byte it stores may change the vectors that it indexes.
/// False when a far literal is missing: only this loop knows their widths.
bool decode_addresses(Frame& out, const SlotMap& slots, DecodeBuffers& buffers, const uint8_t* __restrict code, const Planes& planes,
                      FarLiterals& literals) {
    SlotState* const states = buffers.states.data();
    const FarSlot* const far_slots = buffers.far_slots.data();
    bool complete = true;
    const uint8_t* __restrict one = planes[1][0];
    const uint8_t* __restrict two[] = {planes[2][0], planes[2][1]};
    const uint8_t* __restrict three[] = {planes[3][0], planes[3][1], planes[3][2]};
    size_t at1 = 0, at2 = 0, at3 = 0;
    uint64_t* __restrict address_out = out.addresses.data();
    uint8_t* __restrict store_out = out.is_store.data();
    const uint32_t* __restrict ids = out.block_ids.data();
    const uint16_t* __restrict counts = out.access_counts.data();
    const uint8_t* __restrict slot_stores = slots.is_store();
    const SlotMap::Block* __restrict blocks = slots.blocks();
    const uint8_t* const code_end = code + out.addresses.size();
    uint64_t previous = 0;

    const auto decode_one = [&](SlotState& state) {
        uint64_t address;
        switch (*code) {
            case stride_hit: address = state.last + state.stride; break;
            case gap_hit: address = previous + state.gap; break;
            case last_1: address = state.last + sign_extend(one[at1++], 8); break;
            case prev_1: address = previous + sign_extend(one[at1++], 8); break;
            case last_2: address = state.last + sign_extend(two[0][at2] | two[1][at2] << 8, 16), ++at2; break;
            case prev_2: address = previous + sign_extend(two[0][at2] | two[1][at2] << 8, 16), ++at2; break;
            case last_3:
                address = state.last + sign_extend(three[0][at3] | three[1][at3] << 8 | three[2][at3] << 16, 24);
                ++at3;
                break;
            default: {
                const FarSlot& slot = far_slots[&state - states];
                complete &= literals.take(slot.width, address);
                address = slot.base + (address << slot.shift);
            }
        }
        ++code;
        state.update(address, previous);
        *address_out++ = previous = address;
    };

    for (size_t e = 0, executions = out.block_ids.size(); e < executions; ++e) {
        const auto [first, expected, instructions] = blocks[ids[e]];
        const uint32_t count = counts[e];
        SlotState* state = states + first;
        if (count == expected) {
            // Eight flags at once: both arrays have that much room behind their last element.
            std::memcpy(store_out, slot_stores + first, 8);
            for (uint32_t i = 8; i < count; ++i) store_out[i] = slot_stores[first + i];
            store_out += count;
            if (count <= 8 && code + 8 <= code_end && all_stride_hits(code, count)) {
                code += count;
                for (uint32_t i = 0; i < count; ++i) {
                    const uint64_t address = state[i].last + state[i].stride;
                    state[i].last = address;
                    state[i].gap = address - previous;
                    *address_out++ = previous = address;
                }
            } else {
                for (uint32_t i = 0; i < count; ++i) decode_one(state[i]);
            }
        } else {
            const uint32_t last_slot = expected ? expected - 1 : 0;
            for (uint32_t i = 0; i < count; ++i) {
                *store_out++ = slot_stores[first + std::min(i, last_slot)];
                decode_one(state[std::min(i, last_slot)]);
            }
        }
    }
    return complete;
}

Cursor take_section(Cursor& in) {
    const uint64_t size = in.get_varint();
    const char* from = size <= in.left() ? in.take(size) : nullptr;
    if (!from) in.fail();
    return Cursor(from, from ? size : 0);
}

}  // namespace

const char* decode_frame(const std::string& text, const FrameShape& shape, const SlotMap& slots, DecodeBuffers& buffers, Frame& out) {
    Cursor in(text);
    Cursor blocks = take_section(in);
    const Cursor counts = take_section(in);
    const Cursor stores = take_section(in);
    FarLiterals far_literals;
    buffers.far_slots.clear();
    if (!decode_far_slots(take_section(in), slots.slot_total(), buffers.far_slots)) return "its far slots are malformed";
    for (int width = 1; width <= max_far_width; ++width) far_literals.count[width] = in.get_varint();
    const auto* codes = reinterpret_cast<const uint8_t*>(in.take(shape.accesses));
    if (!in.ok()) return "its sections are cut short";
    const size_t block_bytes = blocks.left();
    if (!decode_blocks(blocks.take(block_bytes), block_bytes, shape.executions, slots.block_total(), out.block_ids))
        return "its block sequence is malformed";

    out.access_counts.resize(shape.executions);
    out.instructions = 0;
    for (size_t e = 0; e < shape.executions; ++e) {
        const SlotMap::Block& block = slots.blocks()[out.block_ids[e]];
        out.access_counts[e] = block.slot_count;
        out.instructions += block.instructions;
    }
    const bool counts_ok = read_exceptions(counts, shape.executions, [&](uint64_t e, uint64_t count) {
        out.access_counts[e] = static_cast<uint16_t>(count);
        return count <= UINT16_MAX;
    });
    uint64_t total = 0;
    for (const uint16_t count : out.access_counts) total += count;
    if (!counts_ok || total != shape.accesses) return "its access counts disagree with the index";
    if (out.instructions != shape.instructions) return "its instructions disagree with the index";

    // The codes fix how many literals of each width follow (how many far ones, but not their widths): checked once, so the
    // loop below needs no other bounds.
    uint64_t known = 0, literals[near_widths + 1] = {}, literal_bytes = 0;
    for (int code = 0; code < code_count; ++code) {
        const uint64_t times = occurrences(codes, shape.accesses, static_cast<uint8_t>(code));
        known += times;
        if (code == far && times != far_literals.total()) return "its far literals disagree with its address codes";
        literals[near_width[code]] += times;
        literal_bytes += times * near_width[code];
    }
    if (known != shape.accesses || literal_bytes > in.left()) return "its address codes are malformed";

    Planes planes = {};
    for (int width = 1; width <= near_widths; ++width)
        for (int byte = 0; byte < width; ++byte) planes[width][byte] = reinterpret_cast<const uint8_t*>(in.take(literals[width]));
    out.addresses.resize(shape.accesses);
    out.is_store.resize(shape.accesses + 8);
    for (int width = 1; width <= max_far_width; ++width) {
        const uint64_t count = far_literals.count[width];
        if (count > in.left() / width) return "its far literals are cut short";
        far_literals.from[width] = reinterpret_cast<const uint8_t*>(in.take(count * width));
    }
    if (!in.at_end()) return "its address codes are malformed";
    buffers.states.assign(slots.slot_total(), SlotState{});
    if (!decode_addresses(out, slots, buffers, codes, planes, far_literals)) return "its far literals have wrong widths";
    out.is_store.resize(shape.accesses);
    const bool stores_ok = read_exceptions(stores, shape.accesses, [&](uint64_t i, uint64_t value) {
        out.is_store[i] = static_cast<uint8_t>(value);
        return value <= 1;
    });
    return stores_ok ? nullptr : "its store flags are malformed";
}

}  // namespace tessera::trace
