// table_text.cpp - the static blocks as bytes, and the checksum that covers them.
#include "bytes.h"
#include "container.h"
#include "sha256.h"

namespace tessera::trace {

std::string table_to_text(const std::vector<StaticBlock>& blocks) {
    std::string out;
    put_varint(out, blocks.size());
    for (const StaticBlock& block : blocks) {
        put(out, block.pc);
        put_varint(out, block.insns.size());
        put_varint(out, block.slots.size());
        for (const StaticInsn& insn : block.insns) {
            put(out, insn.reads);
            put(out, insn.writes);
            put(out, insn.address_reads);
            put(out, insn.kind);
            put(out, insn.memory_slots);
            put(out, insn.length_bytes);
            put(out, insn.early_writes);
            put(out, insn.branch);
            put(out, insn.string);
        }
        for (const MemorySlot& slot : block.slots) {
            put(out, slot.insn);
            put(out, slot.is_store);
            put(out, slot.size_bytes);
        }
    }
    return out;
}

std::string wrong_slots(const StaticBlock& block) {
    for (size_t i = 0; i < block.slots.size(); ++i)
        if (const unsigned bytes = block.slots[i].size_bytes; bytes == 0 || bytes > max_access_bytes)
            return "memory slot " + std::to_string(i) + " has " + std::to_string(bytes) + " bytes, but an access has 1 to " +
                   std::to_string(max_access_bytes);
    return {};
}

bool table_from_text(const std::string& text, std::vector<StaticBlock>& blocks) {
    constexpr size_t insn_bytes = 37, slot_bytes = 4, block_bytes = 10;
    Cursor in(text);
    const uint64_t count = in.get_varint();
    if (count > in.left() / block_bytes) return false;
    blocks.assign(count, {});
    for (StaticBlock& block : blocks) {
        block.pc = in.get<uint64_t>();
        const uint64_t insns = in.get_varint(), slots = in.get_varint();
        if (insns == 0 || insns > in.left() / insn_bytes || slots > in.left() / slot_bytes || slots > UINT16_MAX) return false;
        block.insns.resize(insns);
        block.slots.resize(slots);
        for (size_t i = 0; i < insns; ++i) {
            StaticInsn& insn = block.insns[i];
            insn.reads = in.get<uint64_t>();
            insn.writes = in.get<uint64_t>();
            insn.address_reads = in.get<uint64_t>();
            insn.kind = in.get<InsnKind>();
            insn.memory_slots = in.get<uint8_t>();
            insn.length_bytes = in.get<uint8_t>();
            insn.early_writes = in.get<uint64_t>();
            insn.branch = in.get<BranchKind>();
            insn.string = in.get<StringPart>();
            if (insn.kind > InsnKind::other || insn.branch > BranchKind::ret || insn.string > StringPart::middle) return false;
            if ((insn.early_writes & ~insn.writes) != 0) return false;
            if (insn.branch != BranchKind::none && i + 1 != insns) return false;
        }
        for (MemorySlot& slot : block.slots) {
            slot.insn = in.get<uint16_t>();
            slot.is_store = in.get<uint8_t>();
            slot.size_bytes = in.get<uint8_t>();
            if (slot.insn >= insns || slot.is_store > 1) return false;
        }
    }
    return in.ok() && in.at_end();
}

std::string content_checksum(const std::string& table_text, const std::vector<IndexEntry>& index,
                             const std::optional<std::string>& events_text) {
    std::string message = table_text;
    for (const IndexEntry& entry : index) {
        put(message, entry.executions);
        put(message, entry.accesses);
        put(message, entry.content_digest);
    }
    if (events_text) message += *events_text;
    return sha256_hex(message);
}

}  // namespace tessera::trace
