#include "run/options.h"

#include <cstdio>
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
  --no-prefault      let the program's own first touch fault the windows in (NUMA placement by first touch)
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
                                 {"--library", &Options::library}};
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
        if (!known)
            return fail(2, "option " + name, "no such option",
                        "use one of: --layout --report --target --allow-fallback --no-prefault --library --verbose");
    }
    for (; i < count; ++i) out->program.emplace_back(arguments[i]);
    if (out->layout.empty()) return fail(2, "--layout", "not given", kSeeHelp);
    if (out->program.empty()) return fail(2, "PROGRAM", "not given", kSeeHelp);
    return -1;
}

}  // namespace mosalloc::run
