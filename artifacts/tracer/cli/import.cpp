// import.cpp - converts ChampSim records to a trace. Each distinct instruction becomes one block.
//
// Records have no lengths. The length of an instruction is the distance to the record after it, where it was not a taken
// branch; the outcome of branches shows in a trace by that length. Blocks get it at the end. An instruction that nothing
// followed has length 0.
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "champsim_record.h"
#include "commands.h"
#include "spans.h"

namespace tessera::trace::cli {
namespace {

constexpr uint64_t stack_pointer = uint64_t{1} << stack_pointer_bit;

using FilePointer = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Two records with the same key are executions of the same static block.
using Identity = std::tuple<uint64_t, uint64_t, uint64_t, BranchKind, int, int>;  // ip, reads, writes, branch, loads, stores

using Lengths = std::unordered_map<uint64_t, uint8_t>;  // bytes by ip

StaticBlock block_of(const Identity& identity) {
    const auto& [ip, reads, writes, branch, loads, stores] = identity;
    StaticInsn insn{};
    insn.reads = reads;
    insn.writes = writes;
    // The record does not say which sources form the address, so loads and stores depend on all of them.
    insn.address_reads = loads + stores > 0 ? reads : 0;
    insn.memory_slots = static_cast<uint8_t>(loads + stores);
    insn.branch = branch;
    // An instruction that takes an address from the stack pointer and writes it pushes or pops.
    if (insn.address_reads & stack_pointer) insn.early_writes = writes & stack_pointer;
    insn.kind = branch != BranchKind::none ? InsnKind::branch
                : loads && stores ? InsnKind::load_store
                : loads ? InsnKind::load
                : stores ? InsnKind::store : InsnKind::alu;
    StaticBlock block{ip, {insn}, {}};
    for (int i = 0; i < loads + stores; ++i) block.slots.push_back({0, static_cast<uint8_t>(i >= loads), 8});
    return block;
}

template <size_t count>
uint64_t bits_of(const uint8_t (&registers)[count]) {
    uint64_t bits = 0;
    for (const uint8_t number : registers) bits |= bit_of_register(number);
    return bits;
}

/// The length of `record`'s instruction, if the record behind it shows it; else 0.
uint8_t length_of(const ChampsimRecord& record, const ChampsimRecord& next) {
    constexpr uint64_t longest = 15;  // of an x86 instruction
    const uint64_t distance = next.ip - record.ip;
    return !record.branch_taken && distance - 1 < longest ? static_cast<uint8_t>(distance) : 0;
}

}  // namespace

void import_champsim(const std::string& in, const std::string& out, const ImportOptions& options) {
    FilePointer file(std::fopen(in.c_str(), "rb"), std::fclose);
    if (!file) throw TraceError("open ChampSim trace " + in + ": " + std::strerror(errno) + "\n  what to do: give the path of an uncompressed trace");
    Writer writer = Writer::create(out);
    std::map<Identity, uint32_t> blocks;
    std::set<uint64_t> pages;
    Lengths lengths;
    ChampsimRecord record, before{};
    uint64_t records = 0, accesses = 0;
    bool complete = true;
    for (size_t got; (got = std::fread(&record, 1, sizeof record, file.get())) > 0; ++records) {
        if (got != sizeof record || record.is_branch > 1 || record.branch_taken > 1)
            throw TraceError("ChampSim trace " + in + ", record " + std::to_string(records) + " at byte " + std::to_string(records * sizeof record) +
                             ": not a complete 64-byte record with flags of 0 or 1\n  what to do: decompress the trace (tessera trace import does this), or use a trace for x86; CloudSuite's 96-byte records are not supported");
        uint64_t addresses[6];
        uint8_t is_store[6];
        int loads = 0, total = 0;
        for (const uint64_t address : record.source_memory)
            if (address) addresses[total] = address, is_store[total++] = 0, ++loads;
        for (const uint64_t address : record.destination_memory)
            if (address) addresses[total] = address, is_store[total++] = 1;
        if (options.max_accesses && accesses + total > options.max_accesses) {
            complete = false;
            break;
        }
        accesses += total;
        const Identity identity{record.ip, bits_of(record.source_registers), bits_of(record.destination_registers), branch_kind_of(record), loads, total - loads};
        const auto [entry, added] = blocks.try_emplace(identity, 0);
        if (added) entry->second = writer.add_block(block_of(identity));
        if (const uint8_t length = length_of(before, record); records > 0 && length != 0) lengths[before.ip] = length;
        before = record;
        writer.append(entry->second, addresses, is_store, static_cast<uint16_t>(total));
        for (int i = 0; i < total; ++i) pages.insert(addresses[i] >> 12);
    }
    if (std::ferror(file.get())) throw TraceError("read ChampSim trace " + in + ": " + std::strerror(errno) + "\n  what to do: check the disk");
    if (records == 0 && complete)
        throw TraceError("ChampSim trace " + in + ": the file is empty\n  what to do: copy it again, or give another path");
    for (const auto& [identity, block] : blocks)
        if (const auto length = lengths.find(std::get<0>(identity)); length != lengths.end()) writer.set_length(block, 0, length->second);
    Header header;
    header.program = options.program.empty() ? in : options.program;
    header.origin = "champsim";
    header.complete_roi = complete;
    if (options.heap) header.pools.push_back(*options.heap);
    if (options.anon) header.pools.push_back(*options.anon);
    if (!options.heap && !options.anon) header.pools = default_pools(spans_of_pages(pages));
    writer.finish(header);
}

}  // namespace tessera::trace::cli
