// SPDX-License-Identifier: GPL-2.0-only
#include "stream_builder.h"

#include <algorithm>

#include "kernel_blocks.h"
#include "registers.h"

namespace tessera::tracer {
namespace {

/// An access of an execution: the raw event that it begins with, and its bytes with those of the parts behind.
struct Recorded {
    uint16_t event;
    bool stores;
    uint8_t bytes;
};

/// Parts of a vector access are one, and an atomic read-modify-write is a load and a store.
std::vector<Recorded> accesses_in(const Event* begin, size_t count, const std::vector<DecodedInsn>& insns, uint32_t first_insn) {
    constexpr uint32_t size_bits = 7u << size_tag_shift;
    std::vector<Recorded> found;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t tag = tag_of(begin[i]), bytes = bytes_of_tag(tag), insn = insn_of_tag(tag) - first_insn;
        const bool loads = (tag & load_tag) != 0, stores = (tag & store_tag) != 0;
        if (i > 0 && insn < insns.size() && insns[insn].operand_bytes > 8 && !insns[insn].separate_elements) {
            const uint32_t before = tag_of(begin[i - 1]);
            const bool same = ((tag ^ before) & ~size_bits) == 0 && loads != stores;
            const bool behind = (begin[i] & address_mask) == (begin[i - 1] & address_mask) + bytes_of_tag(before);
            if (same && behind && found.back().bytes + bytes <= trace::max_access_bytes) {
                found.back().bytes = static_cast<uint8_t>(found.back().bytes + bytes);
                continue;
            }
        }
        const auto event = static_cast<uint16_t>(i);
        if (loads) found.push_back({event, false, static_cast<uint8_t>(bytes)});
        if (stores) found.push_back({event, true, static_cast<uint8_t>(bytes)});
    }
    if (found.size() > UINT16_MAX) found.resize(UINT16_MAX);
    return found;
}

/// Of the tags of an execution's events: FNV-1a.
uint64_t hash_of(const Event* begin, const Event* end) {
    uint64_t hash = 0xcbf29ce484222325;
    for (; begin != end; ++begin) hash = (hash ^ tag_of(*begin)) * 0x100000001b3;
    return hash;
}

}  // namespace

StreamBuilder::Known& StreamBuilder::decode_new(const TranslatedBlock& block) {
    if (block.number >= known_.size()) known_.resize(block.number + 1);
    Known& entry = known_[block.number];
    if (entry.insns.empty() && block.kernel) entry.insns.push_back(decoded_kernel_copy(block.kernel_begin));
    if (entry.insns.empty()) {
        size_t at = 0;
        for (const uint8_t size : block.insn_bytes) {
            entry.insns.push_back(decoder_.decode(block.bytes.data() + at, size, block.pc + at));
            at += size;
        }
    }
    if (entry.insns.back().fast_string) {
        entry.before_string = std::make_unique<Known>();
        entry.before_string->insns.assign(entry.insns.begin(), entry.insns.end() - 1);
    }
    return entry;
}

// Tags end with one that no event has, and events with a block event, so the loop ends. Where the next block begins is
// found by looking at the events, not at the variant: the processor then starts on it before the variant is loaded.
const Event* StreamBuilder::end_if_fits(const Variant& variant, const Event* begin) {
    const uint16_t* tag = variant.tags.data();
    for (; !(*begin & block_flag); ++begin, ++tag)
        if (*tag != tag_of(*begin)) return nullptr;
    return *tag == no_tag ? begin : nullptr;
}

StreamBuilder::Match StreamBuilder::match(Known& entry, const Event* begin) {
    if (!entry.variants.empty())
        if (const Event* end = end_if_fits(entry.variants[entry.recent], begin)) return {&entry.variants[entry.recent], end};
    const Event* end = begin;
    while (!(*end & block_flag)) ++end;
    return {find(entry, begin, end), end};
}

const StreamBuilder::Variant* StreamBuilder::find(Known& entry, const Event* begin, const Event* end) {
    const uint64_t hash = hash_of(begin, end);
    for (size_t i = 0; i < entry.hashes.size(); ++i) {
        if (entry.hashes[i] != hash) continue;
        const std::vector<uint16_t>& tags = entry.variants[i].tags;
        if (!std::equal(begin, end, tags.begin(), tags.end() - 1, [](Event event, uint16_t tag) { return tag_of(event) == tag; })) continue;
        entry.recent = i;
        return &entry.variants[i];
    }
    return nullptr;
}

uint32_t StreamBuilder::add_block(uint64_t pc, const Known& entry, std::vector<trace::MemorySlot> slots) {
    std::vector<uint8_t> directions(entry.insns.size()), counts(entry.insns.size());  // bit 0 loads, bit 1 stores
    for (const trace::MemorySlot& slot : slots) {
        directions[slot.insn] |= slot.is_store ? 2 : 1;
        counts[slot.insn] = static_cast<uint8_t>(std::min(255, counts[slot.insn] + 1));
    }
    trace::StaticBlock out{pc, {}, std::move(slots)};
    for (size_t i = 0; i < entry.insns.size(); ++i) {
        out.insns.push_back(with_memory_kind(entry.insns[i], directions[i] & 1, directions[i] & 2));
        out.insns.back().memory_slots = counts[i];
    }
    return writer_.add_block(std::move(out));
}

const StreamBuilder::Variant& StreamBuilder::learn(const TranslatedBlock& block, Known& entry, const Event* begin, size_t count) {
    Variant variant;
    for (size_t i = 0; i < count; ++i) variant.tags.push_back(static_cast<uint16_t>(tag_of(begin[i])));
    std::vector<trace::MemorySlot> slots;
    variant.all_kept = true;
    for (const Recorded& access : accesses_in(begin, count, entry.insns, block.first_insn)) {
        const uint32_t of = insn_of_tag(variant.tags[access.event]) - block.first_insn;
        const uint32_t insn = std::min(of, static_cast<uint32_t>(entry.insns.size()) - 1);
        slots.push_back({static_cast<uint16_t>(insn), access.stores, access.bytes});
        variant.all_kept &= access.event == variant.kept.size();
        variant.kept.push_back(access.event);
        variant.is_store.push_back(access.stores);
    }
    variant.all_kept &= variant.kept.size() == count;
    variant.tags.push_back(no_tag);
    if (slots.size() > entry.widest.size()) entry.widest = slots;
    entry.slots += slots.size();
    variant.block_id = add_block(block.pc, entry, std::move(slots));
    entry.recent = entry.variants.size();
    entry.hashes.push_back(hash_of(begin, begin + count));
    entry.variants.push_back(std::move(variant));
    return entry.variants.back();
}

bool StreamBuilder::append(const Variant& variant, const Event* begin) {
    const size_t count = variant.is_store.size();
    if (over_limit(count)) return false;
    const auto [addresses, is_store] = writer_.start(variant.block_id, static_cast<uint16_t>(count));
    const uint8_t* const directions = variant.is_store.data();
    if (variant.all_kept) {
        for (size_t i = 0; i < count; ++i) addresses[i] = begin[i] & address_mask, is_store[i] = directions[i];
    } else {
        for (size_t i = 0; i < count; ++i) addresses[i] = begin[variant.kept[i]] & address_mask, is_store[i] = directions[i];
    }
    accesses_ += count;
    return true;
}

// Which slot an access has is not known here, so neither is its size: no slot has one that crosses a page.
bool StreamBuilder::append_irregular(const TranslatedBlock& block, Known& entry, const Event* begin, size_t count) {
    const auto found = accesses_in(begin, count, entry.insns, block.first_insn);
    if (over_limit(found.size())) return false;
    if (!entry.irregular_id) {
        for (trace::MemorySlot& slot : entry.widest) slot.size_bytes = 1;
        entry.irregular_id = add_block(block.pc, entry, entry.widest);
    }
    const auto [addresses, is_store] = writer_.start(*entry.irregular_id, static_cast<uint16_t>(found.size()));
    for (size_t i = 0; i < found.size(); ++i) addresses[i] = begin[found[i].event] & address_mask, is_store[i] = found[i].stores;
    accesses_ += found.size();
    return true;
}

bool StreamBuilder::append_other(const TranslatedBlock& block, Known& entry, const Event* begin, size_t count) {
    count = std::min<size_t>(count, UINT16_MAX);
    if (entry.variants.size() < max_variants && entry.slots < max_variant_slots) return append(learn(block, entry, begin, count), begin);
    return append_irregular(block, entry, begin, count);
}

uint32_t StreamBuilder::string_block(const TranslatedBlock& block, Known& entry, trace::StringPart part, bool loads, bool stores,
                                     uint8_t element_bytes) {
    uint32_t& id = entry.string_ids[(part == trace::StringPart::middle) * 4 + loads * 2 + stores];
    if (id == 0) {
        trace::StaticInsn insn = with_memory_kind(entry.insns.back(), loads, stores);
        insn.string = part;
        insn.memory_slots = static_cast<uint8_t>(loads + stores);
        trace::StaticBlock out{block.pc, {insn}, {}};
        for (size_t i = 0; i + 1 < block.insn_bytes.size(); ++i) out.pc += block.insn_bytes[i];
        if (loads) out.slots.push_back({0, 0, element_bytes});
        if (stores) out.slots.push_back({0, 1, element_bytes});
        id = writer_.add_block(std::move(out)) + 1;
    }
    return id - 1;
}

/// One element of a fast string that ends the block, with what the instructions before it accessed.
bool StreamBuilder::append_string(const TranslatedBlock& block, Known& entry, const Event* begin, const Event* end) {
    const uint32_t before = static_cast<uint32_t>(entry.insns.size()) - 1;
    const Event* const element = std::find_if(begin, end, [&](Event e) { return insn_of(e) - block.first_insn == before; });
    const bool continues = before == 0 && string_.pc == block.pc;
    if (continues && element == end) return string_ = {}, true;  // QEMU found rcx = 0
    if (before != 0) {
        Known& prefix = *entry.before_string;
        const Variant* const known = find(prefix, begin, element);
        if (known ? !append(*known, begin) : !append_other(block, prefix, begin, static_cast<size_t>(element - begin))) return false;
    }
    if (!continues) string_ = {block.pc, 0, 0};
    for (size_t i = 0; i < before; ++i) string_.pc += block.insn_bytes[i];

    uint64_t addresses[2];
    bool entered[2] = {};  // by loads, by stores
    size_t count = 0;
    for (const Event* e = element; e != end; ++e) {
        const bool stores = (tag_of(*e) & store_tag) != 0;
        uint64_t& line = stores ? string_.store_line : string_.load_line;
        const uint64_t address = *e & address_mask, now = address / trace::string_line_bytes + 1;  // 0 is no line
        if (now == line || entered[stores]) continue;
        line = now;
        entered[stores] = true;
        addresses[count++] = address;
    }
    if (continues && count == 0) return true;
    if (over_limit(count)) return false;
    const auto part = continues ? trace::StringPart::middle : trace::StringPart::begin;
    const auto element_bytes = static_cast<uint8_t>(element != end ? bytes_of_tag(tag_of(*element)) : 1);
    const uint32_t id = string_block(block, entry, part, entered[0], entered[1], element_bytes);
    const auto [to, is_store] = writer_.start(id, static_cast<uint16_t>(count));
    for (size_t i = 0; i < count; ++i) to[i] = addresses[i], is_store[i] = i == 1 || !entered[0];
    accesses_ += count;
    if (element == end) string_ = {};  // it moves nothing
    return true;
}

Event* StreamBuilder::add_to_window(Event* at, Event* end) {
    while (at < end) {
        Event* const execution = at;
        const TranslatedBlock& block = *block_of(*at);
        const Event* const begin = at + 1;
        const bool is_known = block.number < known_.size() && !known_[block.number].insns.empty();
        Known& entry = is_known ? known_[block.number] : decode_new(block);
        if (entry.before_string) {
            while (!(*++at & block_flag)) {
            }
            if (!append_string(block, entry, begin, at)) return execution;
            continue;
        }
        string_.pc = 0;
        const Match found = match(entry, begin);
        at += found.end - at;
        if (found.variant ? !append(*found.variant, begin) : !append_other(block, entry, begin, static_cast<size_t>(at - begin)))
            return execution;
    }
    return end;
}

Event* StreamBuilder::next_window(Event* at, Event* end) {
    for (; at < end; ++at) {
        if (!(*at & block_flag) || !block_of(*at)->begins_window) continue;
        between_windows_ = false;
        limit_ = accesses_ + window_accesses_;
        string_ = {};
        append_bridge();
        return at + 1;
    }
    return end;
}

void StreamBuilder::append_bridge() {
    trace::StaticInsn insn{};
    insn.writes = insn.early_writes = all_registers;
    insn.kind = trace::InsnKind::alu;
    insn.length_bytes = 1;
    writer_.start(writer_.add_block({left_at_pc_, {insn}, {}}), 0);
}

bool StreamBuilder::add(Event* at, Event* end) {
    *end = block_flag;
    while (at < end) {
        if (between_windows_) {
            at = next_window(at, end);
            continue;
        }
        at = add_to_window(at, end);
        if (at == end) break;
        if (++full_windows_ == windows_) return false;
        between_windows_ = true;
        left_at_pc_ = block_of(*at)->pc;
    }
    return true;
}

}  // namespace tessera::tracer
