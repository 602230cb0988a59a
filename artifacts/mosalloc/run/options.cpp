#include "run/options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mosalloc::run {
namespace {

constexpr const char* kHelp =
    R"(Run a program whose heap and anonymous memory are a mosaic of 4KB, 2MB and 1GB pages.

usage: mosalloc-run --layout FILE [options] -- PROGRAM [ARGUMENT...]

  --layout FILE      which pages go where, a CSV file:
                       type,pageSize,startOffset,endOffset
                       brk,-1,0,1GB              the heap pool has 1GB
                       mmap,-1,0,4GB             the anonymous pool has 4GB
                       mmap,2MB,64MB,192MB       64 pages of 2MB, from 64MB to 192MB of the anonymous pool
                     Everything else is 4KB. Windows are aligned to their page size and do not overlap.
  --report FILE      write what was asked and found, as JSON
  --target EXE       only this executable (path or name) gets the layout, not PROGRAM itself. For a program that
                     is started by a script: --target ./bin/solver -- sh run.sh
  --allow-fallback   go on with 4KB pages where huge pages can't be had. Recorded in the report.
  --no-prefault      windows grow on demand: a huge page is mapped when the program gets memory in it (and placed on
                     the NUMA node that touches it first), and given back when 1GB of such pages lies unused.
                     Default: all windows are taken and touched before the program starts, and kept
  --protections HOW  what happens when the program wants parts of a huge page protected differently:
                     soft: nothing, the page allows what any part of it allows;
                     guards (default): as soft, but a page in which the program takes access away (mprotect), or over
                     which it maps a file, becomes 4KB pages; that is a mismatch;
                     exact: any difference makes 4KB pages
  --hints WHO        kernel (default): anonymous memory that is asked for at an address is the kernel's, outside the
                     pools; pool: the address is ignored
  --stacks WHO       kernel (default): stacks of threads keep exact guard pages outside the pools; pool: inside
  --analyze FILE     write the pools' footprint over time, as JSON
  --interval-ms N    time between two looks of --analyze; default 10
  --library FILE     libmosalloc.so to use; default: the one beside this launcher
  --verbose          print where the pools are
  -h, --help         this text

When the program ends, however it ends, its page sizes are read from /proc/PID/smaps before its memory goes away.
Exit status: the program's own (128 + n if signal n ended it); 2 if the request is wrong or huge pages are missing;
1 if the program ran on other pages than asked.

Huge pages are reserved by root:  sysctl vm.nr_hugepages=64
See what is free:                 grep Huge /proc/meminfo
)";

struct TextOption {
    const char* name;
    std::string Options::*value;
};
struct FlagOption {
    const char* name;
    bool Options::*value;
    bool set_to;
};
constexpr TextOption kTexts[] = {{"--layout", &Options::layout},
                                 {"--report", &Options::report},
                                 {"--target", &Options::target},
                                 {"--library", &Options::library},
                                 {"--analyze", &Options::analyze}};
struct ChoiceOption {
    const char* name;
    std::string Options::*value;
    std::vector<std::string> choices;
};
const std::vector<ChoiceOption> kChoices = {{"--hints", &Options::hints, {"kernel", "pool"}},
                                            {"--stacks", &Options::stacks, {"kernel", "pool"}},
                                            {"--protections", &Options::protections, {"soft", "guards", "exact"}}};
constexpr FlagOption kFlags[] = {{"--allow-fallback", &Options::allow_fallback, true},
                                 {"--no-prefault", &Options::prefault, false},
                                 {"--verbose", &Options::verbose, true}};
constexpr const char* kSeeHelp = "mosalloc-run --help";

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
                return fail(2, name + " '" + value + "'", "not a number from 1 to 60000", kSeeHelp);
            out->interval_ms = static_cast<unsigned>(number);
            known = true;
        }
        if (!known)
            return fail(2, "option " + name, "no such option",
                        "use one of: --layout --report --target --allow-fallback --no-prefault --protections --hints "
                        "--stacks --analyze --interval-ms --library --verbose");
    }
    for (; i < count; ++i) out->program.emplace_back(arguments[i]);
    if (out->layout.empty()) return fail(2, "--layout", "not given", kSeeHelp);
    if (out->program.empty()) return fail(2, "PROGRAM", "not given", kSeeHelp);
    return -1;
}

}  // namespace mosalloc::run
