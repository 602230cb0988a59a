// header_text.cpp - the header as lines `key=value` in a fixed order.
//
// `pool=<brk|mmap> <base> <size_bytes> <used_bytes> <distinct_4kb_pages>`, once per pool. In values, `%`
// and line breaks are written %25 and %0A. The last line is `sha256=<of the lines before it>`, for readers
// in languages without this library's digest. A reader takes each key once, and no header without all of
// them. The keys of the region's count (windows ... region_ended) are there together or not at all. A trace with events
// has `events=<count> <stored_bytes> <text_bytes>`. A recording of one thread of several can have `thread=<number> <its blocks>
// <blocks of all threads>`, and an imported trace has `outside_accesses=<accesses in no pool>`. Numbers have digits only.
#include <map>
#include <set>
#include <sstream>

#include "container.h"
#include "sha256.h"
#include "tessera/common/numbers.h"
#include "tessera/trace/pools.h"
#include "tessera/trace/printable.h"

namespace tessera::trace {
namespace {

std::string escape(const std::string& value) {
    std::string out;
    for (const char c : value) {
        if (c == '%') out += "%25";
        else if (c == '\n') out += "%0A";
        else out += c;
    }
    return out;
}

std::string unescape(const std::string& value) {
    std::string out;
    for (size_t i = 0; i < value.size(); ++i) {
        if (value.compare(i, 3, "%25") == 0) out += '%', i += 2;
        else if (value.compare(i, 3, "%0A") == 0) out += '\n', i += 2;
        else out += value[i];
    }
    return out;
}

constexpr size_t most_digits = 20;  // of a 64-bit number

bool to_number(std::string_view text, uint64_t& out) { return text.size() <= most_digits && read_number(text, out); }

/// As many numbers as `out` has, one space between two of them.
bool to_numbers(std::string_view text, std::initializer_list<uint64_t*> out) {
    size_t left = out.size();
    for (uint64_t* const number : out) {
        const size_t space = text.find(' ');
        if ((--left == 0) != (space == std::string_view::npos) || !to_number(text.substr(0, space), *number)) return false;
        text.remove_prefix(left == 0 ? text.size() : space + 1);
    }
    return true;
}

bool to_pool(std::string_view text, Pool& pool) {
    const bool heap = text.starts_with("brk ");
    if (!heap && !text.starts_with("mmap ")) return false;
    pool.kind = heap ? PoolKind::heap : PoolKind::anon;
    return to_numbers(text.substr(text.find(' ') + 1), {&pool.base, &pool.size_bytes, &pool.used_bytes, &pool.distinct_4kb_pages});
}

bool to_sizes(std::string_view text, std::optional<EventSizes>& sizes) {
    EventSizes& found = sizes.emplace();
    return to_numbers(text, {&found.count, &found.stored_bytes, &found.text_bytes}) && found.text_bytes <= max_event_text_bytes;
}

bool to_thread(std::string_view text, OneThread& thread) {
    uint64_t number = 0;
    if (!to_numbers(text, {&number, &thread.blocks, &thread.all_blocks}) || number > UINT32_MAX) return false;
    thread.known = true;
    thread.number = static_cast<uint32_t>(number);
    return thread.blocks <= thread.all_blocks;
}

/// Of a damaged line, what a message can hold.
std::string shown(const std::string& text) { return printable(text.substr(0, 80)) + (text.size() > 80 ? "..." : ""); }

}  // namespace

std::string header_to_text(const Header& h, const std::optional<EventSizes>& events) {
    std::ostringstream out;
    out << "program=" << escape(h.program) << "\norigin=" << escape(h.origin) << "\naccesses=" << h.accesses << "\nstores=" << h.stores
        << "\ninstructions=" << h.instructions << "\nblock_executions=" << h.block_executions
        << "\ndistinct_4kb_pages=" << h.distinct_4kb_pages << "\nthreads=" << h.threads << "\ncomplete_roi=" << (h.complete_roi ? 1 : 0)
        << "\nkernel_modelled=" << (h.kernel_modelled ? 1 : 0) << "\nkernel_accesses=" << h.kernel_accesses
        << "\nstopped=" << (h.stopped ? 1 : 0) << "\nchecksum=" << h.checksum << '\n';
    if (const RegionCount& region = h.region; region.counted)
        out << "windows=" << region.windows << "\nwindow_accesses=" << region.window_accesses << "\ngap_accesses=" << region.gap_accesses
            << "\nregion_accesses_seen=" << region.accesses_seen << "\nregion_instructions_seen=" << region.instructions_seen
            << "\nregion_ended=" << (region.ended ? 1 : 0) << '\n';
    if (const OneThread& thread = h.thread; thread.known)
        out << "thread=" << thread.number << ' ' << thread.blocks << ' ' << thread.all_blocks << '\n';
    if (h.outside_accesses) out << "outside_accesses=" << *h.outside_accesses << '\n';
    if (events) out << "events=" << events->count << ' ' << events->stored_bytes << ' ' << events->text_bytes << '\n';
    for (const Pool& pool : h.pools)
        out << "pool=" << name_of(pool.kind) << ' ' << pool.base << ' ' << pool.size_bytes << ' ' << pool.used_bytes << ' '
            << pool.distinct_4kb_pages << '\n';
    return out.str() + "sha256=" + sha256_hex(out.str()) + '\n';
}

uint64_t event_bytes_of(const std::string& header_text) {
    const std::string key = "\nevents=";
    const size_t at = header_text.find(key);
    std::optional<EventSizes> sizes;
    if (at == std::string::npos || !to_sizes(header_text.substr(at + key.size(), header_text.find('\n', at + 1) - at - key.size()), sizes))
        return 0;
    return sizes->stored_bytes;
}

std::string header_from_text(const std::string& text, Header& h, std::optional<EventSizes>& events) {
    const size_t sum_at = text.rfind("sha256=");
    if (sum_at == std::string::npos || (sum_at > 0 && text[sum_at - 1] != '\n') ||
        text.substr(sum_at) != "sha256=" + sha256_hex(text.substr(0, sum_at)) + '\n')
        return "its last line is not the sha256 of the lines before it";
    uint64_t threads = 0, complete_roi = 0, kernel_modelled = 0, stopped = 0, ended = 0;
    const std::map<std::string, uint64_t*> numbers = {{"accesses", &h.accesses},
                                                      {"stores", &h.stores},
                                                      {"instructions", &h.instructions},
                                                      {"block_executions", &h.block_executions},
                                                      {"distinct_4kb_pages", &h.distinct_4kb_pages},
                                                      {"threads", &threads},
                                                      {"complete_roi", &complete_roi},
                                                      {"kernel_modelled", &kernel_modelled},
                                                      {"kernel_accesses", &h.kernel_accesses},
                                                      {"stopped", &stopped}};
    const std::map<std::string, uint64_t*> counts = {{"windows", &h.region.windows},
                                                     {"window_accesses", &h.region.window_accesses},
                                                     {"gap_accesses", &h.region.gap_accesses},
                                                     {"region_accesses_seen", &h.region.accesses_seen},
                                                     {"region_instructions_seen", &h.region.instructions_seen},
                                                     {"region_ended", &ended}};
    const std::map<std::string, std::string*> words = {{"program", &h.program}, {"origin", &h.origin}, {"checksum", &h.checksum}};
    std::set<std::string> seen;
    std::istringstream lines(text.substr(0, sum_at));
    for (std::string line; std::getline(lines, line);) {
        const size_t equals = line.find('=');
        if (equals == std::string::npos) return "header line '" + shown(line) + "' has no '='";
        const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
        const auto number = numbers.find(key);
        const auto word = words.find(key);
        const auto count = counts.find(key);
        bool ok = true;
        if (key == "pool") ok = to_pool(value, h.pools.emplace_back());
        else if (key == "thread" && h.thread.known) return "header key 'thread' is given twice";
        else if (key == "thread") ok = to_thread(value, h.thread);
        else if (key == "outside_accesses" && h.outside_accesses) return "header key 'outside_accesses' is given twice";
        else if (key == "outside_accesses") ok = to_number(value, h.outside_accesses.emplace());
        else if (key == "events" && events) return "header key 'events' is given twice";
        else if (key == "events") ok = to_sizes(value, events);
        else if (!seen.insert(key).second) return "header key '" + shown(key) + "' is given twice";
        else if (number != numbers.end()) ok = to_number(value, *number->second);
        else if (count != counts.end()) ok = to_number(value, *count->second), h.region.counted = true;
        else if (word != words.end()) *word->second = key == "checksum" ? value : unescape(value);
        else return "unknown header key '" + shown(key) + "'";
        if (!ok) return "header line '" + shown(line) + "' is malformed";
    }
    const size_t keys = numbers.size() + words.size() + (h.region.counted ? counts.size() : 0);
    if (seen.size() != keys) return "header keys are missing: it has " + std::to_string(seen.size()) + " of " + std::to_string(keys);
    if (threads > UINT32_MAX || complete_roi > 1 || kernel_modelled > 1 || stopped > 1 || ended > 1)
        return "header numbers threads, complete_roi, kernel_modelled, stopped and region_ended are out of range";
    if (h.thread.known && threads < 2) return "header line 'thread=' belongs to recordings of one of several threads";
    if (h.outside_accesses.value_or(0) > h.accesses) return "more accesses are outside the pools than the trace has";
    h.threads = static_cast<uint32_t>(threads);
    h.complete_roi = complete_roi != 0;
    h.kernel_modelled = kernel_modelled != 0;
    h.stopped = stopped != 0;
    h.region.ended = ended != 0;
    return wrong_pools(h.pools, h.distinct_4kb_pages);
}

}  // namespace tessera::trace
