// import.cpp - converts ChampSim records to a trace. Each distinct instruction becomes one block.
//
// Records have no lengths. The length of an instruction is the distance to the record after it, where it was not a taken
// branch; the outcome of branches shows in a trace by that length. Blocks get it at the end. An instruction that nothing
// followed has length 0.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "champsim_check.h"
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
                : loads && stores          ? InsnKind::load_store
                : loads                    ? InsnKind::load
                : stores                   ? InsnKind::store
                                           : InsnKind::alu;
    StaticBlock block{ip, {insn}, {}};
    for (int i = 0; i < loads + stores; ++i) block.slots.push_back({0, static_cast<uint8_t>(i >= loads), 1});  // sizes are unknown
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

/// Reads records one by one and refuses impossible ones.
class Records {
public:
    explicit Records(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb"), std::fclose) {
        if (!file_) throw TraceError("open ChampSim trace " + path, std::strerror(errno), "give the path of an uncompressed trace");
    }

    /// False at the end. `accesses` of the records before: of a reader that wants no more than `limit` (0: all), an impossible record
    /// behind so many is the end.
    bool next(ChampsimRecord& record, uint64_t accesses, uint64_t limit) {
        const size_t got = std::fread(&record, 1, sizeof record, file_.get());
        if (std::ferror(file_.get())) throw TraceError("read ChampSim trace " + path_, std::strerror(errno), "check the disk");
        if (begin_.size() < telling_bytes) begin_.append(reinterpret_cast<const char*>(&record), got);
        if (got == 0) {
            if (read_ == 0) throw TraceError("ChampSim trace " + path_, "the file is empty", "copy it again, or give another path");
            return false;
        }
        const auto wrong = got == sizeof record ? wrong_field(record) : std::nullopt;
        if ((got != sizeof record || wrong) && limit != 0 && accesses == limit) {
            ends_early_ = true;
            return false;
        }
        if (got != sizeof record) refuse("", "the file ends after " + std::to_string(got) + " of its 64 bytes", accesses);
        if (wrong) {
            char value[32];
            std::snprintf(value, sizeof value, "0x%llx", static_cast<unsigned long long>(wrong->value));
            refuse(", " + wrong->name + " at byte " + std::to_string(read_ * sizeof record + wrong->offset),
                   std::string(value) + "; " + wrong->rule, accesses, wrong->is_wide);
        }
        ++read_;
        return true;
    }

    bool ends_early() const { return ends_early_; }

private:
    [[noreturn]] void refuse(const std::string& field, const std::string& found, uint64_t accesses, bool is_wide = false) {
        const std::string record = "ChampSim trace " + path_ + ", record " + std::to_string(read_) + " at byte " +
                                   std::to_string(read_ * sizeof(ChampsimRecord)) + field;
        if (has_cloudsuite_records())
            throw TraceError(record, found + "; the file can have CloudSuite's 96-byte records",
                             "use a trace of ChampSim's 64-byte records");
        std::string remedy = is_wide ? "use a trace of a program whose addresses are below 2^48"
                                     : "copy the trace again from its source; it must have ChampSim's 64-byte records for x86";
        if (accesses > 0) remedy += ", or import the part before this record: --max-accesses " + std::to_string(accesses);
        throw TraceError(record, found, remedy);
    }

    /// Whether the file begins with CloudSuite's records: reads on until that is known.
    bool has_cloudsuite_records() {
        while (begin_.size() < telling_bytes) {
            char more[telling_bytes];
            const size_t got = std::fread(more, 1, telling_bytes - begin_.size(), file_.get());
            if (got == 0) break;
            begin_.append(more, got);
        }
        return is_cloudsuite(begin_);
    }

    std::string path_;
    FilePointer file_;
    std::string begin_;
    uint64_t read_ = 0;
    bool ends_early_ = false;
};

using AccessesOfPages = std::unordered_map<uint64_t, uint64_t>;  // by page number

std::string share(uint64_t part, uint64_t whole) {
    char text[64];
    std::snprintf(text, sizeof text, "%llu (%.1f%%)", static_cast<unsigned long long>(part),
                  whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
    return text;
}

/// Options with which two pools cover every span of at least 1% of the pages; empty if the pools do. The spans, in the order of their
/// addresses, are cut at the widest gap, so the pools are as short as two can be.
std::string covering_pools(const std::vector<Span>& spans, const std::vector<Pool>& pools, uint64_t pages) {
    std::vector<Span> large;
    std::copy_if(spans.begin(), spans.end(), std::back_inserter(large), [&](const Span& span) { return span.pages * 100 >= pages; });
    if (std::all_of(large.begin(), large.end(),
                    [&](const Span& s) { return is_in_a_pool(pools, s.begin) && is_in_a_pool(pools, s.end - 1); }))
        return {};
    size_t cut = 0;
    for (size_t i = 1; i < large.size(); ++i)
        if (cut == 0 || large[i].begin - large[i - 1].end > large[cut].begin - large[cut - 1].end) cut = i;
    const auto option = [](const char* name, const Span& first, const Span& last) {
        char text[80];
        std::snprintf(text, sizeof text, " %s 0x%llx:0x%llx", name, static_cast<unsigned long long>(first.begin),
                      static_cast<unsigned long long>(last.end));
        return std::string(text);
    };
    std::string text = "to cover all ranges with at least 1% of the pages:";
    if (cut > 0 && large[cut].begin / one_gigabyte > (large[cut - 1].end - 1) / one_gigabyte)
        return text + option("--brk-pool", large.front(), large[cut - 1]) + option("--mmap-pool", large[cut], large.back()) + '\n';
    return text + option("--mmap-pool", large.front(), large.back()) + '\n';
}

/// What the user must know of the pools: the shares outside, and the spans, those with the most pages first.
std::string report_of(std::vector<Span> spans, const std::vector<Pool>& pools, const AccessesOfPages& pages, uint64_t accesses,
                      uint64_t outside) {
    constexpr size_t most_spans = 10;
    const auto inside = std::count_if(pages.begin(), pages.end(), [&](const auto& page) { return is_in_a_pool(pools, page.first << 12); });
    std::string text = "outside the pools: " + share(outside, accesses) + " of the accesses, " +
                       share(pages.size() - static_cast<size_t>(inside), pages.size()) +
                       " of the 4KB pages; these have 4KB pages under every layout\n";
    const std::vector<Span> by_address = spans;
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.pages > b.pages; });
    for (size_t i = 0; i < std::min(spans.size(), most_spans); ++i) {
        const Pool* const pool = pool_at(pools, spans[i].begin);
        const bool whole = pool == pool_at(pools, spans[i].end - 1);
        char line[120];
        std::snprintf(line, sizeof line, "addresses 0x%llx:0x%llx, %llu pages: %s\n", static_cast<unsigned long long>(spans[i].begin),
                      static_cast<unsigned long long>(spans[i].end), static_cast<unsigned long long>(spans[i].pages),
                      !whole                         ? "a part in a pool"
                      : pool == nullptr              ? "outside"
                      : pool->kind == PoolKind::heap ? "pool brk"
                                                     : "pool mmap");
        text += line;
    }
    if (spans.size() > most_spans) text += "and " + std::to_string(spans.size() - most_spans) + " smaller ranges of addresses\n";
    return text + "sizes of accesses: unknown, so none crosses a page\n" + covering_pools(by_address, pools, pages.size());
}

}  // namespace

std::string import_champsim(const std::string& in, const std::string& out, const ImportOptions& options) {
    Records source(in);
    Writer writer = Writer::create(out);
    std::map<Identity, uint32_t> blocks;
    AccessesOfPages pages;
    Lengths lengths;
    ChampsimRecord record, before{};
    uint64_t records = 0, accesses = 0;
    bool complete = true;
    for (; source.next(record, accesses, options.max_accesses); ++records) {
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
        const Identity identity{
            record.ip,    bits_of(record.source_registers), bits_of(record.destination_registers), branch_kind_of(record), loads,
            total - loads};
        const auto [entry, added] = blocks.try_emplace(identity, 0);
        if (added) entry->second = writer.add_block(block_of(identity));
        if (const uint8_t length = length_of(before, record); records > 0 && length != 0) lengths[before.ip] = length;
        before = record;
        writer.append(entry->second, addresses, is_store, static_cast<uint16_t>(total));
        for (int i = 0; i < total; ++i) ++pages[addresses[i] >> 12];
    }
    for (const auto& [identity, block] : blocks)
        if (const auto length = lengths.find(std::get<0>(identity)); length != lengths.end()) writer.set_length(block, 0, length->second);
    Header header;
    header.program = options.program.empty() ? in : options.program;
    header.origin = "champsim";
    header.complete_roi = complete && !source.ends_early();
    if (options.heap) header.pools.push_back(*options.heap);
    if (options.anon) header.pools.push_back(*options.anon);
    std::set<uint64_t> numbers;
    for (const auto& [page, count] : pages) numbers.insert(page);
    const std::vector<Span> spans = spans_of_pages(numbers);
    if (!options.heap && !options.anon) header.pools = default_pools(spans);
    uint64_t outside = 0;
    for (const auto& [page, count] : pages)
        if (!is_in_a_pool(header.pools, page << 12)) outside += count;
    header.outside_accesses = outside;
    writer.finish(header);
    return report_of(spans, header.pools, pages, accesses, outside);
}

}  // namespace tessera::trace::cli
