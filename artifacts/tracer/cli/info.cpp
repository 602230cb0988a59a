// info.cpp - prints a summary of a trace, checks it, and dumps it.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "tessera/common/text.h"
#include "tessera/trace/crossing.h"
#include "tessera/trace/pools.h"
#include "tessera/trace/printable.h"

namespace tessera::trace::cli {
namespace {

uint64_t outside_pages(const Header& h) {
    uint64_t pages = h.distinct_4kb_pages;
    for (const Pool& pool : h.pools) pages -= pool.distinct_4kb_pages;
    return pages;
}

/// Events of a kind while the program was recorded.
size_t later_of(const Events& events, EventKind kind) {
    const auto first = events.list.begin() + static_cast<ptrdiff_t>(events.at_start);
    return static_cast<size_t>(std::count_if(first, events.list.end(), [&](const Event& e) { return e.kind == kind; }));
}

/// What the header does not count.
struct Counts {
    uint64_t outside = 0;       ///< accesses in no pool
    uint64_t across_pages = 0;  ///< accesses to two 4KB pages
    uint64_t masked_insns = 0;  ///< static vmaskmov and its like that load
    uint64_t masked_loads = 0;  ///< their executions: QEMU loads all elements, also with an empty mask
};

/// A move from memory that reads a vector register besides its address. Gathers are none: they have an index in a vector.
bool is_masked_load(const StaticInsn& insn) {
    constexpr uint64_t vectors = uint64_t{0xffff} << 17;
    return insn.kind == InsnKind::load && (insn.reads & ~insn.address_reads & vectors) != 0 && (insn.address_reads & vectors) == 0;
}

/// Reads and checks the whole trace.
Counts count(Reader& reader) {
    Counts found;
    const std::vector<StaticBlock>& blocks = reader.blocks();
    std::vector<uint32_t> masked;
    for (const StaticBlock& block : blocks) {
        masked.push_back(static_cast<uint32_t>(std::count_if(block.insns.begin(), block.insns.end(), is_masked_load)));
        found.masked_insns += masked.back();
    }
    reader.verify([&](const Frame& frame) {
        const uint64_t* address = frame.addresses.data();
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            const StaticBlock& block = blocks[frame.block_ids[e]];
            found.masked_loads += masked[frame.block_ids[e]];
            for (size_t i = 0; i < frame.access_counts[e]; ++i, ++address) {
                found.outside += !is_in_a_pool(reader.header().pools, *address);
                found.across_pages += crosses_page(block, i, *address);
            }
        }
    });
    return found;
}

void print_json(const Header& h, const Events* events, const std::vector<StaticBlock>& blocks, size_t frames, uint64_t file_bytes,
                const Counts& counts) {
    std::printf("{\"program\": %s, \"origin\": %s, \"accesses\": %" PRIu64 ", \"stores\": %" PRIu64 ", \"instructions\": %" PRIu64
                ", \"block_executions\": %" PRIu64 ", \"distinct_4kb_pages\": %" PRIu64
                ", \"threads\": %u, \"complete_roi\": %s, \"checksum\": \"%s\", \"checksum_verified\": true, \"file_bytes\": %" PRIu64
                ", \"blocks\": %zu, \"frames\": %zu, ",
                json_string(h.program).c_str(), json_string(h.origin).c_str(), h.accesses, h.stores, h.instructions, h.block_executions,
                h.distinct_4kb_pages, h.threads, h.complete_roi ? "true" : "false", h.checksum.c_str(), file_bytes, blocks.size(), frames);
    if (const RegionCount& region = h.region; region.counted)
        std::printf("\"windows\": %" PRIu64 ", \"window_accesses\": %" PRIu64 ", \"gap_accesses\": %" PRIu64
                    ", \"region_accesses_seen\": %" PRIu64 ", \"region_instructions_seen\": %" PRIu64 ", \"region_ended\": %s, ",
                    region.windows, region.window_accesses, region.gap_accesses, region.accesses_seen, region.instructions_seen,
                    region.ended ? "true" : "false");
    if (const OneThread& thread = h.thread; thread.known)
        std::printf("\"thread\": {\"number\": %u, \"blocks\": %" PRIu64 ", \"all_blocks\": %" PRIu64 "}, ", thread.number, thread.blocks,
                    thread.all_blocks);
    if (events) {
        std::printf("\"events\": {\"at_start\": %" PRIu64, events->at_start);
        for (uint8_t kind = 0; kind < event_kinds; ++kind)
            std::printf(", \"%s\": %zu", name_of(static_cast<EventKind>(kind)), later_of(*events, static_cast<EventKind>(kind)));
        std::printf("}, ");
    }
    std::printf("\"outside_accesses\": %" PRIu64 ", \"outside_4kb_pages\": %" PRIu64 ", \"across_pages\": %" PRIu64
                ", \"masked_loads\": %" PRIu64 ", ",
                counts.outside, outside_pages(h), counts.across_pages, counts.masked_loads);
    std::printf("\"pools\": [");
    for (size_t i = 0; i < h.pools.size(); ++i)
        std::printf("%s{\"kind\": \"%s\", \"base\": %" PRIu64 ", \"size_bytes\": %" PRIu64 ", \"used_bytes\": %" PRIu64
                    ", \"distinct_4kb_pages\": %" PRIu64 "}",
                    i ? ", " : "", name_of(h.pools[i].kind), h.pools[i].base, h.pools[i].size_bytes, h.pools[i].used_bytes,
                    h.pools[i].distinct_4kb_pages);
    std::printf("]}\n");
}

double share(uint64_t part, uint64_t whole) { return whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0; }

}  // namespace

void info(const std::string& path, bool json) {
    Reader reader = Reader::open(path);
    const Header& h = reader.header();
    const Counts counts = count(reader);
    const uint64_t file_bytes = std::filesystem::file_size(path);
    const Events* const events = reader.has_events() ? &reader.events() : nullptr;
    if (json) return print_json(h, events, reader.blocks(), reader.frame_count(), file_bytes, counts);
    std::printf("program             %s\n", printable(h.program).c_str());
    std::printf("origin              %s%s\n", printable(h.origin).c_str(),
                h.complete_roi         ? ""
                : h.region.windows > 1 ? " (windows of an incomplete region of interest)"
                                       : " (stopped at the limit of accesses: incomplete region of interest)");
    std::printf("accesses            %" PRIu64 " (%.1f%% loads, %.1f%% stores)\n", h.accesses, share(h.accesses - h.stores, h.accesses),
                share(h.stores, h.accesses));
    std::printf("instructions        %" PRIu64 " in %" PRIu64 " executions of %zu blocks\n", h.instructions, h.block_executions,
                reader.blocks().size());
    if (const RegionCount& region = h.region; region.counted)
        std::printf("region              %" PRIu64 " accesses, %" PRIu64 " instructions%s; recorded: %" PRIu64
                    " windows, %.2f%% of the accesses\n",
                    region.accesses_seen, region.instructions_seen, region.ended ? "" : " up to the limit", region.windows,
                    share(h.accesses, region.accesses_seen));
    std::printf("threads             %u", h.threads);
    if (h.thread.known)
        std::printf(": the trace has one of them, thread %u by creation, with %.2f%% of the blocks of all threads", h.thread.number,
                    share(h.thread.blocks, h.thread.all_blocks));
    else if (h.threads > 1) std::printf(": the trace has one of them");
    std::printf("\n");
    if (h.kernel_modelled)
        std::printf("system calls        %" PRIu64 " accesses of 64 bytes, modelled from their arguments\n", h.kernel_accesses);
    if (h.stopped) std::printf("result              unverified: the program was stopped at the limit\n");
    if (events) {
        std::printf("events              %zu: %" PRIu64 " for the areas at the start", events->list.size(), events->at_start);
        for (uint8_t kind = 0; kind < event_kinds; ++kind)
            if (const size_t count = later_of(*events, static_cast<EventKind>(kind)))
                std::printf(", %zu %s", count, name_of(static_cast<EventKind>(kind)));
        std::printf("\n");
    }
    std::printf("distinct 4KB pages  %" PRIu64 "\n", h.distinct_4kb_pages);
    for (const Pool& pool : h.pools)
        std::printf("pool %-14s base 0x%" PRIx64 ", %" PRIu64 " bytes, %" PRIu64 " used, %" PRIu64 " distinct 4KB pages\n",
                    name_of(pool.kind), pool.base, pool.size_bytes, pool.used_bytes, pool.distinct_4kb_pages);
    std::printf("outside the pools   %" PRIu64 " accesses (%.1f%%), %" PRIu64
                " distinct 4KB pages (%.1f%%): 4KB pages under every layout\n",
                counts.outside, share(counts.outside, h.accesses), outside_pages(h), share(outside_pages(h), h.distinct_4kb_pages));
    if (h.origin == "champsim") std::printf("across pages        unknown: the trace was imported without sizes of accesses\n");
    else
        std::printf("across pages        %" PRIu64 " accesses to two 4KB pages (%.4f%%)\n", counts.across_pages,
                    share(counts.across_pages, h.accesses));
    std::printf("masked loads        %" PRIu64 " of %" PRIu64 " instructions: recorded whole, also with an empty mask\n",
                counts.masked_loads, counts.masked_insns);
    std::printf("file                %" PRIu64 " bytes, %.2f per access, %zu frames\n", file_bytes,
                h.accesses ? static_cast<double>(file_bytes) / static_cast<double>(h.accesses) : 0.0, reader.frame_count());
    std::printf("checksum            %s (verified)\n", printable(h.checksum).c_str());
}

void verify(const std::string& path) {
    Reader reader = Reader::open(path);
    reader.verify();
    std::printf("%s: %zu frames, sha256 %s: intact\n", path.c_str(), reader.frame_count(), reader.header().checksum.c_str());
}

void dump(const std::string& path, uint64_t limit) {
    static const char* const kinds[] = {"alu",    "multiply", "divide", "fp_add",     "fp_multiply", "fp_divide",
                                        "branch", "load",     "store",  "load_store", "nop",         "other"};
    static const char* const branches[] = {"", " conditional", " jump", " indirect_jump", " call", " indirect_call", " ret"};
    static const char* const strings[] = {"", " string", " string-line"};
    Reader reader = Reader::open(path);
    for (size_t b = 0; b < reader.blocks().size(); ++b) {
        const StaticBlock& block = reader.blocks()[b];
        std::printf("block %zu pc 0x%" PRIx64 "\n", b, block.pc);
        for (const StaticInsn& insn : block.insns)
            std::printf(
                "  insn %-11s reads 0x%" PRIx64 " writes 0x%" PRIx64 " address 0x%" PRIx64 " early 0x%" PRIx64 " slots %u length %u%s%s\n",
                kinds[static_cast<int>(insn.kind)], insn.reads, insn.writes, insn.address_reads, insn.early_writes, insn.memory_slots,
                insn.length_bytes, branches[static_cast<int>(insn.branch)], strings[static_cast<int>(insn.string)]);
        for (const MemorySlot& slot : block.slots)
            std::printf("  slot insn %u %s %u bytes\n", slot.insn, slot.is_store ? "store" : "load", slot.size_bytes);
    }
    Frame frame;
    uint64_t printed = 0;
    while (printed < limit && reader.next(frame)) {
        size_t access = 0;
        for (size_t e = 0; e < frame.block_ids.size() && printed < limit; ++e) {
            std::printf("run %u\n", frame.block_ids[e]);
            for (uint16_t i = 0; i < frame.access_counts[e]; ++i, ++access, ++printed)
                std::printf("  %s 0x%" PRIx64 "\n", frame.is_store[access] ? "store" : "load", frame.addresses[access]);
        }
    }
}

}  // namespace tessera::trace::cli
