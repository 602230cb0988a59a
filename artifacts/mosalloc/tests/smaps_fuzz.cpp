// Mutated smaps texts: reading, comparing and classifying must return, must stay inside memory (checked by sanitizers) and
// must follow the rules below, which hold for any text. Runs for the seconds given as argument; prints its seed.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "run/outside.h"
#include "fuzz.h"
#include "run/smaps.h"

using namespace mosalloc::run;

namespace {

constexpr uint64_t kBase = 0x7f0000000000, k2M = 2u << 20, kPoolBytes = 16 * k2M, kFar = uint64_t{1} << 40;

constexpr const char* kWords[] = {"-",
                                  "0",
                                  "ffffffffffffffff",
                                  "18446744073709551615",
                                  "7f0000000000-",
                                  "KernelPageSize:",
                                  "Rss: -1 kB\n",
                                  "MMUPageSize: 99999999999999999999 kB\n",
                                  "AnonHugePages: 2048 kB\n",
                                  "\n",
                                  "\n\n",
                                  " ",
                                  "[heap]",
                                  "[stack]",
                                  "[anon:x]",
                                  "/libc.so.6",
                                  "---p",
                                  "rw-p",
                                  "fe:00",
                                  "\t",
                                  "%s%n"};

mosalloc_pool_map random_map(std::mt19937_64& rng) {
    mosalloc_pool_map map = {};
    map.pools[0] = {MOSALLOC_POOL_HEAP, kBase + kFar, kPoolBytes, 0, 0, 0};
    map.pools[1] = {MOSALLOC_POOL_ANON, kBase, kPoolBytes, 0, 0, 0};
    map.file_pool = {MOSALLOC_POOL_FILE, kBase + 2 * kFar, kPoolBytes, 0, 0, 0};
    map.on_demand = rng() % 2;
    uint64_t next[2] = {0, 0};
    for (map.window_count = 0; map.window_count < rng() % 6;) {
        const uint64_t kind = rng() % 2, start = next[kind] + rng() % 2 * k2M, end = start + (1 + rng() % 2) * k2M;
        if (end > kPoolBytes) break;
        map.windows[map.window_count++] = {kind, k2M, start, end, rng() % 4 == 0 ? 0u : 1u};
        next[kind] = end;
    }
    return map;
}

/// One area as the kernel writes it; a third of them with huge pages.
std::string area(std::mt19937_64& rng, uint64_t start, uint64_t bytes) {
    static constexpr const char* kNames[] = {
        "", "", "", "[heap]", "[stack]", "/usr/lib/libc.so.6", "/anon_hugepage (deleted)", "/a name  with spaces"};
    const bool huge = rng() % 3 == 0;
    const char* name = kNames[rng() % (sizeof kNames / sizeof *kNames)];
    char text[640];
    snprintf(text, sizeof text,
             "%llx-%llx %s %08llx fe:00 %llu %20s%s\nSize: %llu kB\nKernelPageSize: %8d kB\nMMUPageSize: %8d kB\n"
             "Rss: %8llu kB\nAnonHugePages: %8d kB\nVmFlags: rd wr mr\n",
             static_cast<unsigned long long>(start), static_cast<unsigned long long>(start + bytes), rng() % 3 == 0 ? "---p" : "rw-p",
             static_cast<unsigned long long>(rng() % 2 * 4096), static_cast<unsigned long long>(name[0] == '/' ? 7 : 0), "", name,
             static_cast<unsigned long long>(bytes >> 10), huge ? 2048 : 4, huge && rng() % 8 != 0 ? 2048 : 4,
             static_cast<unsigned long long>(rng() % 2 * (bytes >> 10)), rng() % 8 == 0 ? 2048 : 0);
    return text;
}

std::string random_text(std::mt19937_64& rng) {
    std::string text;
    const bool holes = rng() % 2 == 0;
    for (const uint64_t base : {kBase - 4 * k2M, kBase + kFar, kBase + 2 * kFar}) {
        uint64_t at = base;
        while (at < base + kPoolBytes + 4 * k2M) {
            const uint64_t bytes = (1 + rng() % 8) * (k2M / 2);
            if (!holes || rng() % 12 != 0) text += area(rng, at, bytes);
            at += bytes;
        }
    }
    const size_t mutations = rng() % 3 == 0 ? 0 : rng() % 12;
    for (size_t i = 0; i < mutations && !text.empty(); ++i) {
        const size_t at = rng() % text.size();
        switch (rng() % 5) {
            case 0: text[at] = static_cast<char>(rng()); break;
            case 1: text.insert(at, kWords[rng() % (sizeof kWords / sizeof *kWords)]); break;
            case 2: text.erase(at, rng() % 60); break;
            case 3: text.insert(at, text.substr(rng() % text.size(), rng() % 600)); break;
            default: text.insert(at, rng() % 12000, "0f-\n x"[rng() % 6]); break;
        }
    }
    return text;
}

std::vector<Span> random_spans(std::mt19937_64& rng) {
    std::vector<Span> spans(rng() % 6);
    uint64_t at = kBase - 4 * k2M;
    for (Span& span : spans) {
        span.start = at += rng() % 8 * 4096;
        span.end = at += rng() % 64 * 4096;
    }
    return spans;
}

/// Returns null, or the rule that is broken. `sane`: a kernel could have written this text.
const char* broken_rule(const mosalloc_pool_map& map, const std::vector<Area>& areas, const std::vector<Span>& spans, bool sane) {
    const Findings found = compare(map, areas);
    const Outside outside = classify(map, areas, spans);
    if (found.windows.size() != map.window_count) return "one finding per window";
    for (const WindowFound& w : found.windows) {
        const uint64_t bytes = w.asked.end_offset - w.asked.start_offset;
        if (sane && w.confirmed_bytes > bytes) return "no more is confirmed than there is";
        if (w.confirmed() && w.smallest_page_bytes != 0 && w.smallest_page_bytes < w.asked.page_bytes && sane)
            return "a confirmed window has no smaller page";
    }
    if (found.confirmed() && (found.anon_huge_bytes != 0 || found.wrong_page_bytes != 0)) return "confirmed means no wrong page";
    if (sane && outside.unseen_bytes > outside.anonymous_bytes) return "unseen memory is anonymous memory";
    uint64_t pooled = 0;
    for (const Area& a : areas)
        for (const mosalloc_pool& pool : map.pools) {
            const uint64_t start = std::max(a.start, pool.base);
            const uint64_t end = std::min(a.end, pool.base + pool.size_bytes);
            pooled += end > start ? end - start : 0;
        }
    if (sane && found.wrong_page_bytes > pooled) return "wrong pages lie in the pools";
    if (sane && has_pools(map, areas) && pooled != 2 * kPoolBytes) return "who has the pools has all of them";
    return nullptr;
}

/// Areas in order that do not overlap, and no more resident than mapped: only then do sums of bytes mean something.
bool in_order(const std::vector<Area>& areas) {
    uint64_t end = 0;
    for (const Area& a : areas) {
        if (a.start < end || a.end <= a.start || a.resident_bytes > a.end - a.start) return false;
        end = a.end;
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    tessera::fuzz::Run run("smaps_fuzz", count, arguments);
    auto map = std::make_unique<mosalloc_pool_map>();
    uint64_t confirmed = 0, whole = 0;
    while (run.more()) {
        if (run.tried % 64 == 1) *map = random_map(run.rng);
        std::string text = random_text(run.rng);
        const std::vector<Span> spans = random_spans(run.rng);
        FILE* file = fmemopen(text.data(), text.size() + 1, "r");
        if (file == nullptr) return 2;
        const std::vector<Area> areas = read_smaps(file);
        fclose(file);
        const bool ordered = in_order(areas);
        run.refusals += ordered ? 0 : 1;
        for (const WindowFound& w : compare(*map, areas).windows) confirmed += w.confirmed() ? 1 : 0;
        whole += has_pools(*map, areas) ? 1 : 0;
        run.accepted(text, broken_rule(*map, areas, spans, ordered));
    }
    printf("%llu windows confirmed, %llu with all pools\n", static_cast<unsigned long long>(confirmed),
           static_cast<unsigned long long>(whole));
    return run.finish() != 0 || confirmed == 0 || whole == 0;  // a fuzzer must see both kinds of input
}
