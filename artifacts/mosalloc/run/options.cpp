#include "run/options.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "counters/preload.h"
#include "run/map_file.h"
#include "run/sanitizers.h"

namespace mosalloc::run {
namespace {

constexpr const char* kHelp =
    R"(Run a program with a layout: a mosaic of 4KB, 2MB and 1GB pages for its heap and anonymous memory.

usage: mosalloc-run --layout FILE [options] -- PROGRAM [ARGUMENT...]

  --layout FILE      CSV file with the pool sizes and the windows of large pages:
                       type,pageSize,startOffset,endOffset
                       brk,-1,0,1GB              the heap pool has 1GB
                       mmap,-1,0,4GB             the anonymous pool has 4GB
                       mmap,2MB,64MB,192MB       64 pages of 2MB, from 64MB to 192MB of the anonymous pool
                     All other memory has 4KB pages. Windows are aligned to their page size and do not overlap.
  --report FILE      write the requested and the actual page sizes, as JSON
  --target EXE       apply the layout only to this executable (path or name), not to PROGRAM itself. Use it for a
                     program that a script starts: --target ./bin/solver -- sh run.sh
  --allow-fallback   use 4KB pages where huge pages are missing, and record this in the report
  --no-prefault      let windows grow on demand. The library maps a huge page when the program allocates memory in
                     it, on the NUMA node that touches it first. It gives pages back when more than 1GB are unused.
                     Default: map and touch all windows before the program starts, and keep them
  --protections HOW  choose what happens if the program sets different protections inside one huge page:
                     soft: keep the huge page; it allows every access that any of its parts allows;
                     guards (default): as soft, but split the huge page into 4KB pages if the program removes
                     access (mprotect) or maps a file over a part; the verdict is then a mismatch;
                     exact: split the huge page at any difference
  --hints WHO        choose where anonymous memory with an address hint lies. kernel (default): outside the pools,
                     where the kernel puts it; pool: in a pool, and the library ignores the hint
  --stacks WHO       choose where thread stacks lie. kernel (default): outside the pools, with exact guard pages;
                     pool: in a pool
  --analyze FILE     write the footprint of the pools over time, as JSON
  --interval-ms N    set the time between two samples of --analyze, in ms; default 10
  --count EVENTS     count the events of this file (tessera-count --help has its form) in the program's region of interest
  --counts OUT       write the counts to OUT, as CSV; only if all events counted during the whole region
  --count-region R   roi (default): between the program's markers; program: from the end of libmosalloc's start to the
                     program's exit; whole: from exec to exit
  --library FILE     use this libmosalloc.so; default: the one next to this launcher
  --preload-path FILE
                     print a path of this library that LD_PRELOAD can hold, and exit. It is FILE itself, or a link
                     below $XDG_RUNTIME_DIR or /tmp if FILE has spaces or colons. The launcher uses such a link, too
  --sanitizer FILE   print the sanitizer that replaces malloc in this executable, or nothing, and exit: libmosalloc
                     cannot serve such a program
  --verbose          print the addresses of the pools
  -h, --help         print this text

When the program ends, normally or by a signal, the launcher reads its page sizes from /proc/PID/smaps.
Exit status: that of the program (128 + n if signal n killed it); 2 if the request is wrong or huge pages are missing;
1 if the program ran with other page sizes than the layout asks for, or its region was not counted whole.

Reserve huge pages, as root:  sysctl vm.nr_hugepages=64
See how many are free:        grep Huge /proc/meminfo

Example: mosalloc-run --layout layout.csv --report report.json -- ./bin/solver input.txt
)";

struct TextOption {
    const char* name;
    std::string Options::* value;
};
struct FlagOption {
    const char* name;
    bool Options::* value;
    bool set_to;
};
constexpr TextOption kTexts[] = {{"--layout", &Options::layout},   {"--report", &Options::report},   {"--target", &Options::target},
                                 {"--library", &Options::library}, {"--analyze", &Options::analyze}, {"--count", &Options::count},
                                 {"--counts", &Options::counts}};
struct ChoiceOption {
    const char* name;
    std::string Options::* value;
    std::vector<std::string> choices;
};
const std::vector<ChoiceOption> kChoices = {{"--hints", &Options::hints, {"kernel", "pool"}},
                                            {"--count-region", &Options::count_region, {"roi", "program", "whole"}},
                                            {"--stacks", &Options::stacks, {"kernel", "pool"}},
                                            {"--protections", &Options::protections, {"soft", "guards", "exact"}}};
constexpr FlagOption kFlags[] = {{"--allow-fallback", &Options::allow_fallback, true},
                                 {"--no-prefault", &Options::prefault, false},
                                 {"--verbose", &Options::verbose, true}};
constexpr const char* kSeeHelp = "see mosalloc-run --help";

int print_preload_path(const std::string& file) {
    const std::string library = absolute(file);
    if (access(library.c_str(), R_OK) != 0) return fail(2, "library " + library, strerror(errno), "run: tessera dev build mosalloc");
    std::string path;
    if (const auto problem = tessera::counters::preloadable(library, &path)) return fail(2, problem.asked, problem.found, problem.remedy);
    return printf("%s\n", path.c_str()) < 0 ? 1 : 0;
}

}  // namespace

int fail(int status, const std::string& asked, const std::string& found, const std::string& remedy) {
    fprintf(stderr, "mosalloc-run: %s: %s\n  what to do: %s\n", asked.c_str(), found.c_str(), remedy.c_str());
    return status;
}

int parse_options(int count, char** arguments, Options* out) {
    int i = 1;
    for (; i < count && arguments[i][0] == '-'; ++i) {
        const std::string name = arguments[i];
        bool known = false;
        if (name == "-h" || name == "--help") {
            fputs(kHelp, stdout);
            return 0;
        }
        if (name == "--") {
            ++i;
            break;
        }
        if (name == "--preload-path")
            return i + 1 == count ? fail(2, name, "no value follows", kSeeHelp) : print_preload_path(arguments[i + 1]);
        if (name == "--sanitizer") {
            if (i + 1 == count) return fail(2, name, "no value follows", kSeeHelp);
            const std::string found = sanitizer_of_file(arguments[i + 1]);
            return puts(found.c_str()) < 0 || fflush(stdout) != 0 ? 1 : 0;
        }
        for (const FlagOption& flag : kFlags)
            if (name == flag.name) {
                out->*flag.value = flag.set_to;
                known = true;
            }
        for (const TextOption& text : kTexts) {
            if (name != text.name) continue;
            if (i + 1 == count) return fail(2, name, "no value follows", kSeeHelp);
            out->*text.value = arguments[++i];
            known = true;
        }
        for (const ChoiceOption& choice : kChoices) {
            if (name != choice.name) continue;
            const std::string value = i + 1 == count ? "" : arguments[++i];
            std::string all;
            for (const std::string& word : choice.choices) all += (all.empty() ? "" : ", ") + word;
            if (std::find(choice.choices.begin(), choice.choices.end(), value) == choice.choices.end())
                return fail(2, name + " '" + value + "'", "no such choice", "use one of: " + all);
            out->*choice.value = value;
            known = true;
        }
        if (name == "--interval-ms") {
            const std::string value = i + 1 == count ? "" : arguments[++i];
            char* end = nullptr;
            const unsigned long number = strtoul(value.c_str(), &end, 10);
            if (value.empty() || *end != 0 || number == 0 || number > 60000)
                return fail(2, name + " '" + value + "'", "must be a number from 1 to 60000", kSeeHelp);
            out->interval_ms = static_cast<unsigned>(number);
            known = true;
        }
        if (!known)
            return fail(2, "option " + name, "no such option",
                        "use one of: --layout --report --target --allow-fallback --no-prefault --protections --hints "
                        "--stacks --analyze --interval-ms --count --counts --count-region --library --preload-path --sanitizer --verbose");
    }
    for (; i < count; ++i) out->program.emplace_back(arguments[i]);
    if (out->layout.empty()) return fail(2, "--layout", "not given", kSeeHelp);
    if (out->count.empty() != out->counts.empty())
        return fail(2, out->count.empty() ? "--counts" : "--count", "needs the other one of --count and --counts", kSeeHelp);
    if (out->program.empty()) return fail(2, "PROGRAM", "not given", kSeeHelp);
    return -1;
}

}  // namespace mosalloc::run
