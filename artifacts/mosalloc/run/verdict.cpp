#include "run/verdict.h"

#include <csignal>
#include <cstring>
#include <sys/wait.h>

namespace mosalloc::run {
namespace {

/// Of the program and its forked children.
uint64_t own_huge_bytes(const mosalloc_pool_map& map) { return map.own_huge_bytes + map.children.own_huge_bytes; }

std::string reason_of(const mosalloc_pool_map& map, const Outcome& outcome) {
    const Findings& found = outcome.findings;
    if (map.state == 0 && WIFSIGNALED(outcome.wait_status) && WTERMSIG(outcome.wait_status) == SIGSYS)
        return "a seccomp filter killed the program (SIGSYS) before libmosalloc had started";
    if (map.state == 0) return "libmosalloc never started in the program";
    if (map.state == 2) return map.error;
    if (!outcome.checked)
        return "the process lost its memory before the launcher could read it (after SIGKILL or exec)" +
               (map.other_programs == 0 ? "" : "; it may have become another program: " + other_program(map));
    if (map.split_pages != 0)
        return std::to_string(map.split_pages) + " huge pages became 4KB pages, the first at offset " + std::to_string(map.split_offset) +
               " of the " + (map.split_pool_kind == MOSALLOC_POOL_HEAP ? "brk" : "mmap") +
               " pool, because the program protects or maps parts of them";
    if (found.anon_huge_bytes != 0) return std::to_string(found.anon_huge_bytes) + " bytes of the 4KB parts have transparent huge pages";
    if (found.wrong_page_bytes != 0) return std::to_string(found.wrong_page_bytes) + " bytes of the 4KB parts have other page sizes";
    if (found.outside_huge_bytes != 0)
        return std::to_string(found.outside_huge_bytes) + " bytes outside the pools have huge pages, first in " +
               (found.outside_huge_name.empty() ? "anonymous memory" : found.outside_huge_name) + ": the layout does not have them";
    if (own_huge_bytes(map) != 0)
        return "the program mapped " + std::to_string(own_huge_bytes(map)) +
               " bytes of huge pages itself (MAP_HUGETLB, hugetlbfs), "
               "outside the layout";
    if (misses_reservations(map))
        return "the program uses " + std::to_string(map.opened_bytes + map.children.opened_bytes) +
               " bytes of reservations that have no room in the anonymous pool of " +
               std::to_string(map.pools[MOSALLOC_POOL_ANON].size_bytes) + " bytes: the windows do not reach them";
    for (const WindowFound& w : found.windows)
        if (!w.confirmed())
            return "window at offset " + std::to_string(w.asked.start_offset) + ": asked for pages of " +
                   std::to_string(w.asked.page_bytes) + " bytes, found " + std::to_string(w.smallest_page_bytes);
    return "";
}

}  // namespace

bool misses_reservations(const mosalloc_pool_map& map) {
    bool windows = false;
    for (uint64_t i = 0; i < map.window_count; ++i) windows |= map.windows[i].pool_kind == MOSALLOC_POOL_ANON;
    return windows && map.opened_bytes + map.children.opened_bytes != 0;
}

std::string row_with_reservations(const mosalloc_pool_map& map) {
    return "mmap,-1,0," +
           std::to_string((map.pools[MOSALLOC_POOL_ANON].used_bytes + map.reserved_bytes + map.children.reserved_bytes + (1 << 30) - 1) >>
                          30) +
           "GB";
}

std::string other_program(const mosalloc_pool_map& map) {
    return {map.other_program, strnlen(map.other_program, sizeof map.other_program)};
}

void inspect(int pid, const mosalloc_pool_map& map, Outcome* outcome) {
    if (map.state != 1 || map.pid != static_cast<uint64_t>(pid)) return;
    FILE* file = fopen(("/proc/" + std::to_string(pid) + "/smaps").c_str(), "r");
    if (file == nullptr) return;
    const std::vector<Area> areas = read_smaps(file);
    fclose(file);
    // After SIGKILL the address space may be gone; after exec it is a new one without pools.
    if (!has_pools(map, areas)) return;
    // A script may start the target several times. One bad run makes the verdict bad, whatever the next runs do.
    if (outcome->checked && !outcome->findings.confirmed()) return;
    outcome->checked = true;
    outcome->findings = compare(map, areas);
    outcome->outside = classify(map, areas, read_passed(pid, map));
}

void judge(const Options& options, const mosalloc_pool_map& map, Outcome* outcome) {
    if (outcome->checked && outcome->findings.confirmed() && map.fallback_windows == 0 && map.split_pages == 0 &&
        own_huge_bytes(map) == 0 && !misses_reservations(map)) {
        outcome->verdict = "confirmed";
        return;
    }
    outcome->verdict = !outcome->checked ? "unchecked" : options.allow_fallback ? "fallback" : "mismatch";
    outcome->reason = reason_of(map, *outcome);
}

bool right_pages(const Outcome& outcome) { return outcome.verdict == "confirmed" || outcome.verdict == "fallback"; }

int status_of(const Options& options, const mosalloc_pool_map& map, const Outcome& outcome) {
    const int wait = outcome.wait_status;
    const int own = WIFEXITED(wait) ? WEXITSTATUS(wait) : 128 + WTERMSIG(wait);
    if (map.state == 2) return 2;  // the library has printed why
    if (map.state == 0)
        return fail(2, "layout " + options.layout, outcome.reason,
                    "check that the program, or the one named by --target, starts at all, uses glibc, and is not started without "
                    "LD_PRELOAD and MOSALLOC_ variables (env -i, env -u, sudo)");
    if (right_pages(outcome)) return own;
    const int failed = fail(1, "layout " + options.layout, outcome.reason,
                            map.split_pages != 0 ? "move the windows; or accept it with --allow-fallback; or, if the program does not "
                                                   "rely on these page faults, keep huge pages with --protections soft"
                            : outcome.findings.outside_huge_bytes != 0 || own_huge_bytes(map) != 0
                                ? "switch off the huge pages of the program or its allocator, and give them by windows of the layout; or "
                                  "accept and record them with --allow-fallback"
                            : misses_reservations(map) ? "give the pool room: change its size row in the layout to " +
                                                             row_with_reservations(map) + "; or accept it with --allow-fallback"
                            : outcome.verdict == "unchecked" && map.other_programs != 0
                                ? "if that program is the one that needs the layout, name it: --target " + other_program(map)
                                : "see the details with --report FILE, or accept and record other pages with --allow-fallback");
    return outcome.verdict == "unchecked" && own != 0 ? own : failed;
}

}  // namespace mosalloc::run
