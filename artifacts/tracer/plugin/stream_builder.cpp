// SPDX-License-Identifier: GPL-2.0-only
#include "stream_builder.h"

#include <algorithm>

namespace tessera::tracer {
namespace {

/// Raw events that begin an access: the others are the next 8 bytes of the vector access before them.
std::vector<uint16_t> first_parts(const Event* begin, size_t count, const std::vector<DecodedInsn>& insns, uint32_t first_insn) {
    std::vector<uint16_t> kept;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t tag = tag_of(begin[i]);
        const uint32_t insn = (tag & (store_tag - 1)) - first_insn;
        const bool continues = i > 0 && begin[i] == begin[i - 1] + 8 && insn < insns.size() &&
                               insns[insn].operand_bytes > 8 && !insns[insn].separate_elements;
        if (!continues) kept.push_back(static_cast<uint16_t>(i));
    }
    return kept;
}

}  // namespace

StreamBuilder::Known& StreamBuilder::known(const TranslatedBlock& block) {
    if (block.number >= known_.size()) known_.resize(block.number + 1);
    Known& entry = known_[block.number];
    if (entry.insns.empty()) {
        size_t at = 0;
        for (const uint8_t size : block.insn_bytes) {
            entry.insns.push_back(decoder_.decode(block.bytes.data() + at, size, block.pc + at));
            at += size;
        }
    }
    return entry;
}

const StreamBuilder::Variant* StreamBuilder::match(Known& entry, const Event* begin, size_t count) const {
    for (size_t tried = 0; tried < entry.variants.size(); ++tried) {
        const size_t i = (entry.recent + tried) % entry.variants.size();
        const Variant& variant = entry.variants[i];
        if (variant.tags.size() != count) continue;
        size_t same = 0;
        while (same < count && variant.tags[same] == tag_of(begin[same])) ++same;
        if (same == count) {
            entry.recent = i;
            return &variant;
        }
    }
    return nullptr;
}

const StreamBuilder::Variant& StreamBuilder::learn(const TranslatedBlock& block, Known& entry, const Event* begin, size_t count) {
    Variant variant;
    trace::StaticBlock out{block.pc, {}, {}};
    for (const DecodedInsn& decoded : entry.insns) out.insns.push_back(decoded.insn);
    for (size_t i = 0; i < count; ++i) variant.tags.push_back(static_cast<uint16_t>(tag_of(begin[i])));
    variant.kept = first_parts(begin, count, entry.insns, block.first_insn);

    std::vector<uint8_t> directions(entry.insns.size());  // bit 0 loads, bit 1 stores
    for (size_t k = 0; k < variant.kept.size(); ++k) {
        const uint32_t tag = variant.tags[variant.kept[k]];
        const bool stores = (tag & store_tag) != 0;
        const uint32_t insn = std::min<uint32_t>((tag & (store_tag - 1)) - block.first_insn, static_cast<uint32_t>(entry.insns.size()) - 1);
        const size_t next = k + 1 < variant.kept.size() ? variant.kept[k + 1] : count;
        const size_t parts = next - variant.kept[k];
        const size_t bytes = parts > 1 ? 8 * parts : std::clamp<size_t>(entry.insns[insn].operand_bytes, 1, 8);
        out.slots.push_back({static_cast<uint16_t>(insn), stores, static_cast<uint8_t>(std::min<size_t>(bytes, 255))});
        directions[insn] |= stores ? 2 : 1;
        out.insns[insn].memory_slots = static_cast<uint8_t>(std::min(255, out.insns[insn].memory_slots + 1));
        variant.is_store.push_back(stores);
    }
    for (size_t i = 0; i < out.insns.size(); ++i) set_memory_kind(out.insns[i], directions[i] & 1, directions[i] & 2);
    variant.block_id = writer_.add_block(std::move(out));
    entry.recent = entry.variants.size();
    entry.variants.push_back(std::move(variant));
    return entry.variants.back();
}

bool StreamBuilder::append(uint32_t block_id, size_t count) {
    if (max_accesses_ && accesses_ + count > max_accesses_) return false;
    writer_.append(block_id, addresses_.data(), is_store_.data(), static_cast<uint16_t>(count));
    accesses_ += count;
    return true;
}

bool StreamBuilder::add(const Event* at, const Event* end) {
    while (at < end) {
        const TranslatedBlock& block = *block_of(*at++);
        const Event* begin = at;
        while (at < end && !(*at & block_flag)) ++at;
        const size_t count = std::min<size_t>(at - begin, UINT16_MAX);
        Known& entry = known(block);
        const Variant* variant = match(entry, begin, count);
        if (!variant && entry.variants.size() < max_variants) variant = &learn(block, entry, begin, count);
        if (variant) {
            const size_t kept = variant->kept.size();
            if (addresses_.size() < kept) addresses_.resize(kept);
            for (size_t i = 0; i < kept; ++i) addresses_[i] = begin[variant->kept[i]] & address_mask;
            is_store_.assign(variant->is_store.begin(), variant->is_store.end());
            if (!append(variant->block_id, kept)) return false;
            continue;
        }
        const auto parts = first_parts(begin, count, entry.insns, block.first_insn);
        addresses_.resize(std::max(addresses_.size(), parts.size()));
        is_store_.resize(parts.size());
        for (size_t i = 0; i < parts.size(); ++i) {
            addresses_[i] = begin[parts[i]] & address_mask;
            is_store_[i] = (tag_of(begin[parts[i]]) & store_tag) != 0;
        }
        const auto widest = std::max_element(entry.variants.begin(), entry.variants.end(), [](const Variant& a, const Variant& b) {
            return a.kept.size() < b.kept.size();
        });
        if (!append(widest->block_id, parts.size())) return false;
    }
    return true;
}

}  // namespace tessera::tracer
