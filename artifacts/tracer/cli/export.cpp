// export.cpp - writes a trace as ChampSim records, as far as that format can express it.
//
// One record per instruction, but further records of the same instruction follow when it has more than 4
// loads or 2 stores. At most 4 source and 2 destination registers are kept, address sources first. A branch
// is taken when the next block does not follow it in memory.
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>

#include "champsim_record.h"
#include "commands.h"
#include "tessera/trace/file_replacement.h"

namespace tessera::trace::cli {
namespace {

template <size_t room>
void put_registers(uint64_t bits, uint8_t (&registers)[room], size_t& used) {
    for (; bits && used < room; bits &= bits - 1) registers[used++] = register_of_bit(std::countr_zero(bits));
}

/// Writes the records of one block execution. The last branch is held until its successor is known.
class Exporter {
public:
    Exporter(std::FILE* file, const std::string& path) : file_(file), path_(path) {}

    void execution(const StaticBlock& block, const uint64_t* addresses, const uint8_t* is_store, size_t count) {
        settle(block.pc);
        uint64_t pc = block.pc;
        size_t next = 0;
        for (size_t i = 0; i < block.insns.size(); ++i) {
            const StaticInsn& insn = block.insns[i];
            size_t end = next;
            while (end < count && owner(block, end) == i) ++end;
            if (i + 1 == block.insns.size()) end = count;
            instruction(insn, pc, addresses + next, is_store + next, end - next);
            next = end;
            pc += insn.length_bytes;
        }
        expected_ = pc;
    }
    void finish() {
        settle(expected_);
        if (std::fflush(file_) != 0) fail();
    }

private:
    static size_t owner(const StaticBlock& block, size_t access) {
        return block.slots.empty() ? block.insns.size() - 1 : block.slots[std::min(access, block.slots.size() - 1)].insn;
    }

    void instruction(const StaticInsn& insn, uint64_t pc, const uint64_t* addresses, const uint8_t* is_store, size_t count) {
        settle(pc);
        const bool branch = insn.kind == InsnKind::branch;
        size_t at = 0;
        do {
            ChampsimRecord record{};
            record.ip = pc;
            record.is_branch = branch;
            size_t sources = 0, destinations = 0, loads = 0, stores = 0;
            if (reads_instruction_pointer(insn.branch)) record.source_registers[sources++] = champsim_instruction_pointer;
            put_registers(insn.address_reads, record.source_registers, sources);
            put_registers(insn.reads & ~insn.address_reads, record.source_registers, sources);
            if (branch) record.destination_registers[destinations++] = champsim_instruction_pointer;
            put_registers(insn.writes, record.destination_registers, destinations);
            for (; at < count && (is_store[at] ? stores < 2 : loads < 4); ++at)
                (is_store[at] ? record.destination_memory[stores++] : record.source_memory[loads++]) = addresses[at];
            waiting_ = record;
            has_waiting_ = true;
            if (at < count) settle(pc);
        } while (at < count);
        expected_ = pc + insn.length_bytes;
    }

    /// Writes the held record, now that the next instruction's address is known.
    void settle(uint64_t next_pc) {
        if (!has_waiting_) return;
        waiting_.branch_taken = waiting_.is_branch && next_pc != expected_;
        has_waiting_ = false;
        if (std::fwrite(&waiting_, sizeof waiting_, 1, file_) != 1) fail();
    }

    [[noreturn]] void fail() {
        throw TraceError("write ChampSim trace " + path_, std::strerror(errno), "free disk space or write elsewhere");
    }

    std::FILE* file_;
    std::string path_;
    ChampsimRecord waiting_{};
    bool has_waiting_ = false;
    uint64_t expected_ = 0;
};

}  // namespace

void export_champsim(const std::string& in, const std::string& out) {
    Reader reader = Reader::open(in);
    FileReplacement replacement(out);
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(replacement.path().c_str(), "wb"), std::fclose);
    if (!file)
        throw TraceError("create ChampSim trace " + out, std::strerror(errno), "free disk space, or choose a path that you may write to");
    Exporter exporter(file.get(), out);
    Frame frame;
    while (reader.next(frame)) {
        size_t access = 0;
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            exporter.execution(reader.blocks()[frame.block_ids[e]], &frame.addresses[access], &frame.is_store[access],
                               frame.access_counts[e]);
            access += frame.access_counts[e];
        }
    }
    exporter.finish();
    replacement.commit();
}

}  // namespace tessera::trace::cli
