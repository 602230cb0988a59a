#include "run/report.h"

#include <cinttypes>
#include <sys/wait.h>

#include "run/json.h"
#include "run/output.h"
#include "run/verdict.h"
#include "tessera/common/text.h"

namespace mosalloc::run {
namespace {

constexpr const char* kPools[] = {"brk", "mmap"};

void write_windows(FILE* file, const Findings& findings) {
    fputs("  \"windows\": [", file);
    const char* separator = "";
    for (const WindowFound& w : findings.windows) {
        fprintf(file,
                "%s\n    {\"type\": \"%s\", \"start_offset\": %" PRIu64 ", \"end_offset\": %" PRIu64 ", \"asked_page_bytes\": %" PRIu64
                ", \"found_page_bytes\": %" PRIu64 ", \"confirmed\": %s}",
                separator, kPools[w.asked.pool_kind], w.asked.start_offset, w.asked.end_offset, w.asked.page_bytes, w.smallest_page_bytes,
                w.confirmed() ? "true" : "false");
        separator = ",";
    }
    fputs("\n  ],\n", file);
}

}  // namespace

bool write_report(const std::string& path, const Options& options, const mosalloc_pool_map& map, const Outcome& outcome) {
    FILE* file = fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    fputs("{\n  \"program\": [", file);
    for (size_t i = 0; i < options.program.size(); ++i)
        fprintf(file, "%s%s", i == 0 ? "" : ", ", tessera::json_string(options.program[i]).c_str());
    const bool exited = WIFEXITED(outcome.wait_status);
    fprintf(file, "],\n  \"layout\": %s,\n  \"pid\": %" PRIu64 ",\n", tessera::json_string(options.layout).c_str(), map.pid);
    if (exited) fprintf(file, "  \"exit_status\": %d,\n  \"signal\": null,\n", WEXITSTATUS(outcome.wait_status));
    else fprintf(file, "  \"exit_status\": null,\n  \"signal\": %d,\n", WTERMSIG(outcome.wait_status));
    write_pools(file, map);
    write_windows(file, outcome.findings);
    fprintf(file,
            "  \"small_pages\": {\"anon_huge_bytes\": %" PRIu64 ", \"wrong_page_bytes\": %" PRIu64 ", \"outside_huge_bytes\": %" PRIu64
            "},\n",
            outcome.findings.anon_huge_bytes, outcome.findings.wrong_page_bytes, outcome.findings.outside_huge_bytes);
    fprintf(file, "  \"removed_tunables\": %s,\n", tessera::json_string(outcome.removed_tunables).c_str());
    write_calls(file, map);
    write_counters(file, map);
    write_children(file, map.children);
    write_outside(file, outcome.outside);
    fprintf(file, "  \"other_program\": %s,\n", tessera::json_string(other_program(map)).c_str());
    fprintf(
        file,
        "  \"allow_fallback\": %s,\n  \"prefault\": %s,\n  \"hints\": %s,\n  \"stacks\": %s,\n  \"protections\": %s,\n  \"verdict\": %s,\n  \"reason\": %s\n}\n",
        options.allow_fallback ? "true" : "false", options.prefault ? "true" : "false", tessera::json_string(options.hints).c_str(),
        tessera::json_string(options.stacks).c_str(), tessera::json_string(options.protections).c_str(),
        tessera::json_string(outcome.verdict).c_str(), tessera::json_string(outcome.reason).c_str());
    return close_whole(file, path);
}

}  // namespace mosalloc::run
