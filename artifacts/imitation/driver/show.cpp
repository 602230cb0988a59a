#include "driver/show.h"

#include <algorithm>
#include <cinttypes>
#include <map>

#include "driver/counters.h"
#include "driver/imitation.h"
#include "driver/pages.h"

namespace tessera::os {
namespace {

constexpr uint64_t samples = 200;  ///< rows of the table `sizes`, at most
constexpr const char *pool_words[] = {"brk", "mmap", "file"};
constexpr const char *call_word[] = {"map", "unmap", "remap", "protect", "advise", "brk", "lock", "unlock"};

const char *pool_word(uint8_t pool) { return pool < std::size(pool_words) ? pool_words[pool] : "outside"; }

const char *size_word(const Record &r) { return r.gigantic ? "1GB" : r.large ? "2MB" : "4KB"; }

std::string counter_name(uint64_t number) {
    return number < counter_names().size() ? counter_names()[number] : "counter-" + std::to_string(number);
}

std::string cause_of(const Record &r) {
    if (r.kind == Kind::call || r.kind == Kind::call_begin) return r.cause < std::size(call_word) ? call_word[r.cause] : "?";
    if (r.kind == Kind::unmap) return name_of(static_cast<Loss>(r.cause));
    if (r.kind == Kind::source) return name_of(static_cast<Source>(r.cause));
    if (r.kind == Kind::count) return counter_name(r.page);
    return r.kind == Kind::map || r.kind == Kind::upgrade ? name_of(static_cast<Cause>(r.cause)) : "";
}

void print_records(Reader &log, std::FILE *out, bool faults_only) {
    std::fputs("block,access,kind,cause,pool,page,pages,page_size,frame,write,fallback,major,table_frames\n", out);
    for (Record r; log.next(r);) {
        if ((faults_only && !r.is_fault()) || r.kind == Kind::count) continue;
        std::string tables;
        for (const uint32_t frame : r.tables) tables += (tables.empty() ? "" : " ") + std::to_string(frame);
        std::fprintf(out, "%" PRIu64 ",%" PRIu64 ",%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%d,%d,%d,%s\n", r.block, r.access,
                     name_of(r.kind), cause_of(r).c_str(), pool_word(r.pool), r.page, r.pages, size_word(r), r.frame, r.write, r.fallback,
                     r.is_major(), tables.c_str());
    }
}

/// Pages of each size and areas at regular places of the stream.
void print_sizes(Reader &log, std::FILE *out) {
    const uint64_t step = std::max<uint64_t>(1, (log.header().blocks + samples - 1) / samples);
    uint64_t next = 0, areas = 0, faults = 0;
    Pages pages;
    const auto row = [&](uint64_t block) {
        const Pages::Totals t = pages.totals();
        std::fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", block, t.small, t.zero, t.large,
                     areas, faults);
    };
    std::fputs("block,pages_4kb,zero_pages_4kb,pages_2mb,areas,faults\n", out);
    for (Record r; log.next(r);) {
        for (; next < r.block; next += step) row(next);
        pages.apply(r);
        faults += r.is_fault();
        if (r.kind == Kind::call) areas = r.frame;
    }
    row(log.header().blocks);
}

std::string rights(uint64_t flags) {
    std::string text = "---";
    for (unsigned i = 0; i < 3; ++i)
        if (flags >> i & 1) text[i] = "rwx"[i];
    return text;
}

void print_areas(Reader &log, std::FILE *out) {
    std::fputs("pool,page,pages,rights,huge_pages\n", out);
    for (Record r; log.next(r);)
        if (r.kind == Kind::area)
            std::fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%s,%s\n", pool_word(r.pool), r.page, r.pages, rights(r.frame).c_str(),
                         r.frame & (AREA_HUGETLB_2MB | AREA_HUGETLB_1GB) ? "pool"
                         : r.frame & 16                                  ? "advised"
                         : r.frame & 32                                  ? "refused"
                                                                         : "default");
}

uint64_t mapped(const Pages &pages) {
    const Pages::Totals t = pages.totals();
    return t.small + t.zero + 512 * t.large;
}

/// The pages at the first moment when most are mapped: many programs free their memory before they end.
Pages pages_at_most(Reader &log) {
    uint64_t most = 0, place = 0, at = 0;
    Pages pages;
    log.rewind();
    for (Record r; log.next(r);) {
        pages.apply(r);
        ++at;
        if (mapped(pages) > most) most = mapped(pages), place = at;
    }
    Pages found;
    log.rewind();
    Record r;
    for (at = 0; at < place && log.next(r); ++at) found.apply(r);
    return found;
}

/// Runs of pages with consecutive frames, by powers of two: least length -> runs, pages.
std::map<uint64_t, std::pair<uint64_t, uint64_t>> chunks_of(const Pages &pages) {
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> found;
    for (uint8_t pool = 0; pool < most_pools; ++pool) {
        const auto &all = pages.pool(pool);
        for (size_t i = 0, length; i < all.size(); i += length) {
            length = 1;
            if (!all[i].mapped || all[i].frame == zero_frame) continue;
            while (i + length < all.size() && all[i + length].mapped && all[i + length].frame == all[i].frame + length) ++length;
            uint64_t least = 1;
            while (least * 2 <= length) least *= 2;
            ++found[least].first, found[least].second += length;
        }
    }
    return found;
}

struct Summary {
    std::map<std::string, uint64_t> faults, changes;
    std::map<std::string, uint64_t> calls;
    std::vector<std::pair<std::string, uint64_t>> counters;
    uint64_t fallbacks = 0, areas = 0;
    Pages pages;
};

Summary summary_of(Reader &log) {
    Summary s;
    for (Record r; log.next(r);) {
        s.pages.apply(r);
        s.fallbacks += r.fallback;
        if (r.is_fault()) ++s.faults[cause_of(r) + "," + size_word(r)];
        else if (r.kind == Kind::call) ++s.calls[cause_of(r)];
        else if (r.kind == Kind::area) ++s.areas;
        else if (r.kind == Kind::count) s.counters.emplace_back(counter_name(r.page), r.frame);
        else if (r.changes_pages())
            ++s.changes[r.kind == Kind::map ? cause_of(r) : r.kind == Kind::unmap && r.cause > 0 ? cause_of(r) : name_of(r.kind)];
    }
    return s;
}

void print_chunks(Reader &log, std::FILE *out) {
    std::fputs("least_pages,chunks,pages\n", out);
    for (const auto &[least, found] : chunks_of(pages_at_most(log)))
        std::fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", least, found.first, found.second);
}

void print_faults_by_kind(Reader &log, std::FILE *out) {
    std::fputs("kind,page_size,faults\n", out);
    for (const auto &[kind, count] : summary_of(log).faults) std::fprintf(out, "%s,%" PRIu64 "\n", kind.c_str(), count);
}

void print_counters(Reader &log, std::FILE *out) {
    std::fputs("counter,value\n", out);
    for (const auto &[name, value] : summary_of(log).counters) std::fprintf(out, "%s,%" PRIu64 "\n", name.c_str(), value);
}

}  // namespace

const std::vector<std::string> &show_tables() {
    static const std::vector<std::string> names = {"records", "faults", "kinds", "sizes", "areas", "chunks", "counters"};
    return names;
}

void show_table(Reader &log, const std::string &table, std::FILE *out) {
    log.rewind();
    if (table == "records" || table == "faults") print_records(log, out, table == "faults");
    else if (table == "kinds") print_faults_by_kind(log, out);
    else if (table == "sizes") print_sizes(log, out);
    else if (table == "areas") print_areas(log, out);
    else if (table == "counters") print_counters(log, out);
    else print_chunks(log, out);
}

void show(Reader &log, std::FILE *out) {
    log.rewind();
    const Header &h = log.header();
    const Summary s = summary_of(log);
    std::fprintf(out, "scenario %s (digest %s), trace %.16s\n", h.scenario.c_str(), digest_of(h.scenario_text).c_str(),
                 h.trace_checksum.c_str());
    std::fprintf(out, "%" PRIu64 " blocks, %" PRIu64 " accesses, %" PRIu64 " instructions; %" PRIu64 " records\n", h.blocks, h.accesses,
                 h.instructions, log.records());
    for (const auto &[key, value] : h.notes) std::fprintf(out, "%s: %s\n", key.c_str(), value.c_str());
    std::fputs("faults\n", out);
    for (const auto &[kind, count] : s.faults) std::fprintf(out, "  %-12s %" PRIu64 "\n", kind.c_str(), count);
    std::fprintf(out, "  fell back from 2MB: %" PRIu64 "\n", s.fallbacks);
    std::fputs("other changes\n", out);
    for (const auto &[kind, count] : s.changes) std::fprintf(out, "  %-12s %" PRIu64 "\n", kind.c_str(), count);
    std::fputs("calls\n", out);
    for (const auto &[kind, count] : s.calls) std::fprintf(out, "  %-12s %" PRIu64 "\n", kind.c_str(), count);
    std::fputs("counters that are not 0\n", out);
    for (const auto &[name, value] : s.counters)
        if (value > 0) std::fprintf(out, "  %-25s %" PRIu64 "\n", name.c_str(), value);
    const Pages::Totals t = s.pages.totals();
    std::fprintf(out, "at the end: %" PRIu64 " areas; %" PRIu64 " pages of 4KB, %" PRIu64 " of zeros, %" PRIu64 " pages of 2MB\n", s.areas,
                 t.small, t.zero, t.large);
    std::fputs("when most is mapped, chunks (pages with consecutive frames): least pages, chunks, pages\n", out);
    for (const auto &[least, found] : chunks_of(pages_at_most(log)))
        std::fprintf(out, "  %8" PRIu64 " %10" PRIu64 " %12" PRIu64 "\n", least, found.first, found.second);
}

}  // namespace tessera::os
