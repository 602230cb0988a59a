// mosalloc-run: starts a program under libmosalloc. When the program ends, checks that its page sizes match the layout.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/prctl.h>
#include <unistd.h>

#include "counters/counting.h"
#include "counters/find_program.h"
#include "counters/preload.h"
#include "counters/signals.h"
#include "counters/tracee.h"
#include "mosalloc/starters.h"
#include "mosalloc/tunables.h"
#include "run/analysis.h"
#include "run/elf_check.h"
#include "run/map_file.h"
#include "run/notes.h"
#include "run/options.h"
#include "run/output.h"
#include "run/sanitizers.h"
#include "run/verdict.h"

extern char** environ;

namespace mosalloc::run {
namespace {

using tessera::counters::Counting;
using tessera::counters::Ending;
using tessera::counters::Follow;
using tessera::counters::Kind;
using tessera::Problem;

std::string beside_launcher(const char* name) {
    const std::string self = absolute("/proc/self/exe");
    return self.substr(0, self.rfind('/') + 1) + name;
}

/// The target and all before it run without transparent huge pages, which would be pages that the layout does not have.
/// False if the user has done the same: then other programs do not get them back either.
bool without_large_pages() { return prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0 && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0; }

/// GLIBC_TUNABLES=... without the tunables that would take malloc out of the pools; these go to `removed`.
std::string without_huge_malloc(const char* variable, std::string* removed) {
    using namespace mosalloc_tunables;
    std::string kept = kVariable;
    for (const char* at = variable + strlen(kVariable);; ++at) {
        const char* end = end_of_pair(at);
        std::string* to = is_huge(at, end) ? removed : &kept;
        if (!to->empty() && *to != kVariable) *to += ':';
        to->append(at, end);
        if (*end == 0) return kept;
        at = end;
    }
}

std::vector<std::string> environment(const Options& options, const std::string& libraries, const std::string& target,
                                     const std::string& map_path, bool starter, const std::vector<std::string>& counting,
                                     std::string* removed_tunables) {
    std::vector<std::pair<std::string, std::string>> ours = {
        {"MOSALLOC_LAYOUT", absolute(options.layout)},
        {"MOSALLOC_TARGET", starter ? "" : target},
        {"MOSALLOC_STARTERS", starter ? "1" : "0"},
        {"MOSALLOC_POOL_MAP", map_path},
        {"MOSALLOC_PREFAULT", options.prefault ? "1" : "0"},
        {"MOSALLOC_ALLOW_FALLBACK", options.allow_fallback ? "1" : "0"},
        {"MOSALLOC_RESERVATIONS", "kernel"},
        {"MOSALLOC_THP", without_large_pages() ? "off" : "kernel"},
        {"MOSALLOC_VERBOSE", options.verbose ? "1" : "0"},
        {"MOSALLOC_HINTS", options.hints},
        {"MOSALLOC_STACKS", options.stacks},
        {"MOSALLOC_PROTECTIONS", options.protections},
    };
    for (const std::string& one : counting) ours.emplace_back(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
    const char* preloaded = getenv("LD_PRELOAD");
    const bool chain = preloaded != nullptr && *preloaded != 0;
    std::vector<std::string> out = {"LD_PRELOAD=" + libraries + (chain ? std::string(":") + preloaded : "")};
    for (const auto& [name, value] : ours) out.push_back(name + "=" + value);
    for (char** variable = environ; *variable != nullptr; ++variable) {
        bool replaced = strncmp(*variable, "LD_PRELOAD=", 11) == 0;
        for (const auto& [name, value] : ours)
            replaced |= strncmp(*variable, name.c_str(), name.size()) == 0 && (*variable)[name.size()] == '=';
        if (strncmp(*variable, mosalloc_tunables::kVariable, strlen(mosalloc_tunables::kVariable)) == 0)
            out.push_back(without_huge_malloc(*variable, removed_tunables));
        else if (!replaced) out.emplace_back(*variable);
    }
    return out;
}

/// By its own name, or by that of the file behind symbolic links.
template <size_t count>
bool is_named(const char* const (&table)[count], const std::string& path) {
    const auto name = [](const std::string& file) { return file.substr(file.rfind('/') + 1); };
    return mosalloc_is_one_of(table, name(path).c_str()) || mosalloc_is_one_of(table, name(absolute(path)).c_str());
}

int main(int count, char** arguments) {
    Options options;
    const int parsed = parse_options(count, arguments, &options);
    if (parsed >= 0) return parsed;
    const std::string path = tessera::counters::find_program(options.program[0]);
    if (path.empty()) return fail(2, "program " + options.program[0], "not found in PATH", "check the name");
    const bool starter = options.target.empty() && is_named(kMosallocStarters, path);
    if (options.target.empty() && is_named(kMosallocShells, path))
        return fail(2, "program " + path, "a shell starts other programs, and only one gets the layout",
                    "name it: --target PROGRAM -- " + options.program[0] + " ...; for the shell itself: --target " + options.program[0]);
    const std::string target = options.target.empty() ? path : options.target;
    const bool target_is_file = target.find('/') != std::string::npos;
    if (target_is_file) {
        const Refusal refusal = check_program(target);
        if (!refusal.found.empty()) return fail(2, "program " + target, refusal.found, refusal.remedy);
    }
    const char* preloaded = getenv("LD_PRELOAD");
    if (const std::string sanitizer = sanitizer_of_list(preloaded == nullptr ? "" : preloaded); !sanitizer.empty())
        return fail(2, std::string("LD_PRELOAD=") + preloaded,
                    "the runtime of " + sanitizer +
                        " replaces malloc, so the layout would not "
                        "reach the memory of the program",
                    "unset LD_PRELOAD");
    const std::string library = absolute(options.library.empty() ? beside_launcher("libmosalloc.so") : options.library);
    if (access(library.c_str(), R_OK) != 0)
        return fail(2, "library " + library, strerror(errno), "run: tessera dev build mosalloc, or name the file with --library FILE");
    for (const auto& [asked, file] : {std::pair{"report ", options.report}, std::pair{"analysis ", options.analyze}})
        if (!file.empty() && !can_write(file))
            return fail(2, asked + file, strerror(errno), "name a file in a folder where you may write, on a disk with room");
    if (!options.report.empty() && options.report == options.analyze)
        return fail(2, "--report " + options.report, "--analyze names the same file", "name another file");
    std::unique_ptr<Counting> counting;
    std::string libraries;
    if (const Problem problem = tessera::counters::preloadable(library, &libraries)) return fail(2, problem);
    if (!options.count.empty()) {
        Kind kind = Kind::roi;
        tessera::counters::parse_kind(options.count_region, &kind);
        counting = std::make_unique<Counting>(options.count, options.counts, kind);
        if (const Problem problem = counting->prepare()) return fail(2, problem);
        if (counting->needs_hook()) {
            std::string hook;
            if (const Problem problem = tessera::counters::preloadable(beside_launcher("libtessera-roi.so"), &hook))
                return fail(2, problem);
            libraries = hook + ":" + libraries;
        }
    }
    tessera::counters::hold_signals();
    MapFile map_file;
    if (map_file.get() == nullptr)
        return fail(2, "pool map " + map_file.path(), strerror(errno), "set TMPDIR to a folder that can be written");
    const mosalloc_pool_map& map = *map_file.get();
    Outcome outcome;
    Sanitized sanitized;
    Analysis analysis(options.interval_ms);
    const std::string shown_target = target_is_file ? absolute(target) : target;
    const auto has_layout = [&](int pid) { return map.state == 1 && map.pid == static_cast<uint64_t>(pid); };
    const Ending ending = tessera::counters::run_traced(
        path, options.program,
        environment(options, libraries, shown_target, map_file.path(), starter,
                    counting ? counting->variables() : std::vector<std::string>(), &outcome.removed_tunables),
        !options.target.empty() ? Follow::all
        : starter               ? Follow::starters
                                : Follow::none,
        [&](int pid) {
            if (counting) counting->at_exit(has_layout(pid));
            sanitized.look(pid, has_layout(pid));
            inspect(pid, map, &outcome);
        },
        [&] { return map.state == 1 ? static_cast<int>(map.pid) : 0; },
        {options.analyze.empty() ? 0 : options.interval_ms, [&] { analysis.sample(map); }}, counting.get());
    if (ending.refused) return fail(2, ending.refused);
    if (!ending.error.empty())
        return fail(2, "program " + path, ending.error, "check that the program is executable and that ptrace is allowed here");
    outcome.wait_status = ending.wait_status;
    // Nothing but a sanitizer explains that no process had the layout, or the pools are not the memory of the one that had it.
    const bool outside_pools = !sanitized.sanitizer.empty() && (sanitized.has_layout || map.state == 0);
    outcome.checked = outcome.checked && !outside_pools;
    judge(options, map, &outcome);
    if (outside_pools) outcome.reason = "program " + sanitized.program + ": it, or a library in it, is " + why_not(sanitized.sanitizer);
    if (!options.report.empty() && !write_report(options.report, options, map, outcome))
        return fail(1, "report " + options.report, strerror(errno), "make room on its disk, or write it elsewhere");
    if (!options.analyze.empty()) {
        analysis.sample(map);
        if (!analysis.write(options.analyze, map, outcome.outside))
            return fail(1, "analysis " + options.analyze, strerror(errno), "make room on its disk, or write it elsewhere");
    }
    print_notes(options, map, outcome);
    if (outside_pools) return fail(map.state == 0 ? 2 : 1, "layout " + options.layout, outcome.reason, build_without(sanitized.sanitizer));
    if (!sanitized.sanitizer.empty())
        fail(0, "note",
             "program " + sanitized.program + " did not get the layout, and is built with " + sanitized.sanitizer +
                 ", which may end it when a library is preloaded or it is traced",
             "if it failed: start it with ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LSAN_OPTIONS=detect_leaks=0, or build "
             "it without the sanitizer");
    const int status = status_of(options, map, outcome);
    if (!counting || !right_pages(outcome)) return status;
    Problem problem = counting->finish();
    if (!problem) problem = counting->write();
    if (!problem) return status;
    const int failed = fail(1, problem);
    return status != 0 ? status : failed;
}

}  // namespace
}  // namespace mosalloc::run

int main(int count, char** arguments) { return mosalloc::run::main(count, arguments); }
