// tessera-count: counts events in a region of a program, exactly or not at all.
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/counting.h"
#include "counters/find_program.h"
#include "counters/preload.h"
#include "counters/signals.h"
#include "counters/tracee.h"
#include "tessera/common/command_line.h"

extern char** environ;

namespace tessera::counters {
namespace {

constexpr char kHelp[] =
    R"(Count events of a program in its region of interest: exactly, or not at all.

usage: tessera-count --events EVENTS --counts OUT [--region roi|whole] -- PROGRAM [ARGUMENT...]

  --events EVENTS  text file with one event a line, 6 fields with a tab between them (lines with # are comments):
                     name  type  config  config1  config2  modifiers
                     faults  1   0x2     0x0      0x0      uk         page faults (a software event)
                     walks   4   0x1008  0x0      0x0      u          a raw code of the processor
                   Types and configs are those of perf_event_attr. Modifiers: u (user), k (kernel), or uk. A breakpoint
                   (type 5) has its address in config1, its length in config2, and its bp_type as a 7th field.
                   All events of the processor form one group. They count together or the run fails.
  --counts OUT     write event,value,enabled_ns,running_ns as CSV, and a last row region_ns: the time of the region
  --region R       roi (default): between the program's markers (artifacts/workloads/common/roi.h). Several regions add up.
                   whole: from exec to exit
  -h, --help       print this text

Threads are counted, and processes that the program forks. The launcher is not. The program is not changed on disk; while
it is counted, a preloaded library turns its markers into jumps.

Exit status: that of the program (128 + n if signal n killed it); 2 if the request is wrong, or an event cannot be opened;
1 if the program ended well but its region was not counted whole. OUT is written only for a region that was counted whole.

Example: tessera-count --events events.tsv --counts counts.csv -- build/workloads/gups --size 256MB --reads 8000000
)";

struct Options {
    std::string events, counts, region;
    std::vector<std::string> program;
};

int fail(int status, const Problem& problem) { return report("tessera-count", status, problem); }

/// Returns -1 to go on, else the exit status.
int parse(int count, char** arguments, Options* out) {
    const Syntax syntax{
        "", "tessera-count", {{"events", true, true}, {"counts", true, true}, {"region", true, false, {"roi", "whole"}}}, true};
    CommandLine line;
    if (const Problem problem = read_command_line(syntax, {arguments + 1, arguments + count}, &line)) return fail(2, problem);
    if (line.help) return fputs(kHelp, stdout) < 0 ? 1 : 0;
    *out = {line.value("events"), line.value("counts"), line.value("region", "roi"), line.rest};
    return out->program.empty() ? fail(2, {"PROGRAM", "not given", "see tessera-count --help"}) : -1;
}

std::string beside_launcher(const char* name) {
    char self[PATH_MAX] = "";
    if (realpath("/proc/self/exe", self) == nullptr) return name;
    return std::string(self, static_cast<size_t>(strrchr(self, '/') + 1 - self)) + name;
}

/// This process's variables; those of `ours`, and LD_PRELOAD if there is a `library`, replaced.
std::vector<std::string> environment(const std::string& library, std::vector<std::string> ours) {
    const char* others = getenv("LD_PRELOAD");
    if (!library.empty()) ours.push_back("LD_PRELOAD=" + library + (others != nullptr && *others != 0 ? std::string(":") + others : ""));
    std::vector<std::string> out = ours;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        bool replaced = false;
        for (const std::string& one : ours) replaced |= strncmp(*variable, one.c_str(), one.find('=') + 1) == 0;
        if (!replaced) out.emplace_back(*variable);
    }
    return out;
}

int main(int count, char** arguments) {
    Options options;
    const int parsed = parse(count, arguments, &options);
    if (parsed >= 0) return parsed;
    const std::string path = find_program(options.program[0]);
    if (path.empty()) return fail(2, {"program " + options.program[0], "not found in PATH", "check the name"});
    Kind kind = Kind::roi;
    parse_kind(options.region, &kind);
    Counting counting(options.events, options.counts, kind);
    if (const Problem problem = counting.prepare()) return fail(2, problem);
    std::string library;
    if (counting.needs_hook()) {
        library = beside_launcher("libtessera-roi.so");
        if (access(library.c_str(), R_OK) != 0)
            return fail(2, {"library " + library, strerror(errno), "keep it beside the launcher, or build it: tessera dev build mosalloc"});
        if (const Problem problem = preloadable(std::string(library), &library)) return fail(2, problem);
    }
    hold_signals();
    const Ending ending = run_traced(
        path, options.program, environment(library, counting.variables()), Follow::none, [&](int) { counting.at_exit(true); },
        [] { return 0; }, {}, &counting);
    if (ending.refused) return fail(2, ending.refused);
    if (!ending.error.empty())
        return fail(2, {"program " + path, ending.error, "check that the program is executable and that ptrace is allowed here"});
    const int wait = ending.wait_status, own = WIFEXITED(wait) ? WEXITSTATUS(wait) : 128 + WTERMSIG(wait);
    Problem problem = counting.finish();
    if (!problem) problem = counting.write();
    if (!problem) return own;
    const int failed = fail(1, problem);
    return own != 0 ? own : failed;
}

}  // namespace
}  // namespace tessera::counters

int main(int count, char** arguments) { return tessera::counters::main(count, arguments); }
