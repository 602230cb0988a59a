#include "run/report.h"

#include <cinttypes>
#include <sys/wait.h>

namespace mosalloc::run {
namespace {

constexpr const char* kPools[] = {"brk", "mmap"};

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        char code[8];
        if (c == '"' || c == '\\') out += '\\', out += c;
        else if (static_cast<unsigned char>(c) >= 0x20) out += c;
        else snprintf(code, sizeof code, "\\u%04x", c), out += code;
    }
    return out + "\"";
}

void write_pools(FILE* file, const mosalloc_pool_map& map) {
    fputs("  \"pools\": [", file);
    for (int i = 0; i < MOSALLOC_POOL_COUNT; ++i) {
        const mosalloc_pool& p = map.pools[i];
        fprintf(file, "%s\n    {\"type\": \"%s\", \"base\": %" PRIu64 ", \"size_bytes\": %" PRIu64
                ", \"used_bytes\": %" PRIu64 ", \"live_bytes\": %" PRIu64 ", \"calls\": %" PRIu64 "}",
                i == 0 ? "" : ",", kPools[p.kind], p.base, p.size_bytes, p.used_bytes, p.live_bytes, p.calls);
    }
    fputs("\n  ],\n", file);
}

void write_windows(FILE* file, const Findings& findings) {
    fputs("  \"windows\": [", file);
    const char* separator = "";
    for (const WindowFound& w : findings.windows) {
        fprintf(file, "%s\n    {\"type\": \"%s\", \"start_offset\": %" PRIu64 ", \"end_offset\": %" PRIu64
                ", \"asked_page_bytes\": %" PRIu64 ", \"found_page_bytes\": %" PRIu64 ", \"confirmed\": %s}",
                separator, kPools[w.asked.pool_kind], w.asked.start_offset, w.asked.end_offset, w.asked.page_bytes,
                w.smallest_page_bytes, w.confirmed() ? "true" : "false");
        separator = ",";
    }
    fputs("\n  ],\n", file);
}

void write_counters(FILE* file, const mosalloc_pool_map& map) {
    const struct {
        const char* name;
        uint64_t value;
    } rows[] = {{"passed_through", map.passed_through},     {"softened_protections", map.softened_protections},
                {"ignored_advice", map.ignored_advice},     {"zeroed_bytes", map.zeroed_bytes},
                {"refused_calls", map.refused_calls},       {"fork_risks", map.fork_risks},
                {"fallback_windows", map.fallback_windows}};
    fputs("  \"counters\": {", file);
    const char* separator = "";
    for (const auto& row : rows) {
        fprintf(file, "%s\"%s\": %" PRIu64, separator, row.name, row.value);
        separator = ", ";
    }
    fputs("},\n", file);
}

}  // namespace

bool write_report(const std::string& path, const Options& options, const mosalloc_pool_map& map,
                  const Outcome& outcome) {
    FILE* file = fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    fputs("{\n  \"program\": [", file);
    for (size_t i = 0; i < options.program.size(); ++i)
        fprintf(file, "%s%s", i == 0 ? "" : ", ", quoted(options.program[i]).c_str());
    const bool exited = WIFEXITED(outcome.wait_status);
    fprintf(file, "],\n  \"layout\": %s,\n  \"pid\": %" PRIu64 ",\n", quoted(options.layout).c_str(), map.pid);
    if (exited) fprintf(file, "  \"exit_status\": %d,\n  \"signal\": null,\n", WEXITSTATUS(outcome.wait_status));
    else fprintf(file, "  \"exit_status\": null,\n  \"signal\": %d,\n", WTERMSIG(outcome.wait_status));
    write_pools(file, map);
    write_windows(file, outcome.findings);
    fprintf(file, "  \"small_pages\": {\"anon_huge_bytes\": %" PRIu64 ", \"wrong_page_bytes\": %" PRIu64 "},\n",
            outcome.findings.anon_huge_bytes, outcome.findings.wrong_page_bytes);
    write_counters(file, map);
    fprintf(file, "  \"allow_fallback\": %s,\n  \"prefault\": %s,\n  \"verdict\": %s,\n  \"reason\": %s\n}\n",
            options.allow_fallback ? "true" : "false", options.prefault ? "true" : "false",
            quoted(outcome.verdict).c_str(), quoted(outcome.reason).c_str());
    return fclose(file) == 0;
}

}  // namespace mosalloc::run
