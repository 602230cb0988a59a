// trace_fuzz.cpp - runs the trace reader on files with a changed preamble, header, block table, frames or index and with
// matching checksums: random damage cannot produce such files, but a buggy or hostile writer can.
#include "tessera/trace/areas.h"
#include "traces.h"

using namespace tessera;

namespace {

const std::vector<std::string_view> header_words = {"\n",
                                                    "=",
                                                    "pool=",
                                                    "brk ",
                                                    "mmap ",
                                                    "accesses=",
                                                    "sha256=",
                                                    "checksum=",
                                                    "threads=4294967297",
                                                    "-1",
                                                    "18446744073709551616",
                                                    "18446744073709551615",
                                                    "281474976710656",
                                                    "outside_accesses=",
                                                    "thread=",
                                                    " ",
                                                    "%0A",
                                                    "complete_roi=2",
                                                    "events=3 ",
                                                    "events="};

std::string changed(const fuzz::Parts& good, fuzz::Random& rng) {
    fuzz::Parts parts = good;
    const auto nothing = [](trace::Preamble&, std::vector<trace::IndexEntry>&) {};
    switch (rng() % 7) {
        case 0: {  // the file itself, checksums and all
            std::string bytes = fuzz::seal(parts, nothing);
            if (rng() % 4 != 0) fuzz::mutate(bytes, rng, {});
            return bytes;
        }
        case 1:  // two of three times with a sha256 line that fits
            if (rng() % 3 != 0) parts.header.resize(parts.header.rfind("sha256="));
            fuzz::mutate(parts.header, rng, header_words);
            if (parts.header.find("sha256=") == std::string::npos) parts.header += "sha256=" + trace::sha256_hex(parts.header) + '\n';
            break;
        case 6:
            if (parts.events) {
                fuzz::mutate(*parts.events, rng, {});
                parts.fits_events = rng() % 8 != 0;
            }
            break;
        case 2: fuzz::mutate(parts.table, rng, {}); break;
        case 3: fuzz::mutate(parts.frames[rng() % parts.frames.size()], rng, {}); break;
        case 4:
            return fuzz::seal(parts, [&](trace::Preamble& p, std::vector<trace::IndexEntry>&) {
                uint64_t* const fields[] = {&p.tail_offset, &p.header_bytes, &p.table_bytes, &p.table_text_bytes, &p.frames};
                for (uint64_t edits = 1 + rng() % 3; edits > 0; --edits) {
                    uint64_t& field = *fields[rng() % std::size(fields)];
                    field = rng() % 2 ? fuzz::border(rng) : field + rng() % 5 - 2;
                }
            });
        default:
            return fuzz::seal(parts, [&](trace::Preamble& p, std::vector<trace::IndexEntry>& index) {
                for (uint64_t edits = 1 + rng() % 4; edits > 0; --edits) {
                    trace::IndexEntry& e = index[rng() % index.size()];
                    uint64_t* const fields[] = {&e.offset, &e.stored_bytes, &e.text_bytes, &e.executions, &e.accesses, &e.instructions};
                    uint64_t& field = *fields[rng() % std::size(fields)];
                    field = rng() % 2 ? fuzz::border(rng) : field + rng() % 5 - 2;
                }
                if (rng() % 4 == 0) p.tail_offset = rng() % sizeof p;
            });
    }
    return fuzz::seal(parts, nothing);
}

/// What holds of every trace that was read to its end.
const char* broken_rule(trace::Reader& reader) {
    uint64_t accesses = 0, instructions = 0;
    trace::Frame frame;
    while (reader.next(frame)) {
        if (frame.first_access != accesses || frame.first_instruction != instructions) return "a frame begins where the one before it ends";
        uint64_t counted = 0, insns = 0;
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            if (frame.block_ids[e] >= reader.blocks().size()) return "block ids are below the number of blocks";
            counted += frame.access_counts[e];
            insns += instructions_of(reader.blocks()[frame.block_ids[e]]);
        }
        if (frame.access_counts.size() != frame.block_ids.size()) return "one count an execution";
        if (counted != frame.addresses.size() || counted != frame.is_store.size()) return "one address and one flag an access";
        if (insns != frame.instructions) return "instructions are those of the blocks";
        for (const uint8_t flag : frame.is_store)
            if (flag > 1) return "store flags are 0 or 1";
        accesses += counted;
        instructions += insns;
    }
    if (accesses != reader.header().accesses || instructions != reader.header().instructions)
        return "the header's sums are those of the frames";
    for (const trace::StaticBlock& block : reader.blocks()) {
        if (block.insns.empty()) return "a block has instructions";
        for (const trace::StaticInsn& insn : block.insns) {
            if ((insn.early_writes & ~insn.writes) != 0) return "early writes are writes";
            if (insn.branch != trace::BranchKind::none && &insn != &block.insns.back()) return "a branch ends its block";
        }
    }
    for (const trace::StaticBlock& block : reader.blocks())
        for (const trace::MemorySlot& slot : block.slots)
            if (slot.insn >= block.insns.size() || slot.is_store > 1 || slot.size_bytes - 1u >= trace::max_access_bytes)
                return "slots have a size and belong to instructions of their block";
    if (reader.has_events()) {
        trace::Areas areas;
        uint64_t block = 0;
        for (const trace::Event& event : reader.events().list) {
            if (event.block < block || event.block > reader.header().block_executions) return "events are in the order of the stream";
            if (event.file > reader.events().files.size()) return "an event's file is in the list";
            block = event.block;
            areas.apply(event);
        }
        if (reader.events().at_start > reader.events().list.size()) return "events at the start are events";
        areas.events();
    }
    return fuzz::broken_pools(reader.header());
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<fuzz::Parts> good = fuzz::good_traces();
    fuzz::MemoryFile file;
    return fuzz::run_reader<trace::TraceError>(
        "trace_fuzz", count, arguments, [&](fuzz::Random& rng) { return changed(good[rng() % good.size()], rng); },
        [&](const std::string& bytes, fuzz::Random&) {
            file.write(bytes);
            trace::Reader reader = trace::Reader::open(file.path());
            return broken_rule(reader);
        });
}
