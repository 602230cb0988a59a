#include "run/options.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "counters/preload.h"
#include "run/map_file.h"
#include "run/sanitizers.h"
#include "tessera/common/command_line.h"
#include "tessera/common/numbers.h"

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

const std::vector<tessera::Option> kOptions = {
    {"layout"},
    {"report"},
    {"target"},
    {"allow-fallback", false},
    {"no-prefault", false},
    {"protections", true, false, {"soft", "guards", "exact"}},
    {"hints", true, false, {"kernel", "pool"}},
    {"stacks", true, false, {"kernel", "pool"}},
    {"analyze"},
    {"interval-ms"},
    {"count"},
    {"counts"},
    {"count-region", true, false, {"roi", "program", "whole"}},
    {"library"},
    {"preload-path"},
    {"sanitizer"},
    {"verbose", false},
};
constexpr const char* kSeeHelp = "see mosalloc-run --help";

int print_preload_path(const std::string& file) {
    const std::string library = absolute(file);
    if (access(library.c_str(), R_OK) != 0) return fail(2, "library " + library, strerror(errno), "run: tessera dev build mosalloc");
    std::string path;
    if (const auto problem = tessera::counters::preloadable(library, &path)) return fail(2, problem);
    return printf("%s\n", path.c_str()) < 0 ? 1 : 0;
}

}  // namespace

int fail(int status, const tessera::Problem& problem) { return tessera::report("mosalloc-run", status, problem); }

int parse_options(int count, char** arguments, Options* out) {
    tessera::CommandLine line;
    const tessera::Syntax syntax{"", "mosalloc-run", kOptions, true};
    if (const auto problem = tessera::read_command_line(syntax, {arguments + 1, arguments + count}, &line)) return fail(2, problem);
    if (line.help) return fputs(kHelp, stdout) < 0 ? 1 : 0;
    if (line.has("preload-path")) return print_preload_path(line.value("preload-path"));
    if (line.has("sanitizer")) return puts(sanitizer_of_file(line.value("sanitizer")).c_str()) < 0 || fflush(stdout) != 0 ? 1 : 0;
    const std::string interval = line.value("interval-ms", "10");
    const auto milliseconds = tessera::whole_number(interval);
    if (!milliseconds || *milliseconds == 0 || *milliseconds > 60000)
        return fail(2, "--interval-ms '" + interval + "'", "must be a number from 1 to 60000", kSeeHelp);
    out->interval_ms = static_cast<unsigned>(*milliseconds);
    out->layout = line.value("layout");
    out->report = line.value("report");
    out->target = line.value("target");
    out->library = line.value("library");
    out->analyze = line.value("analyze");
    out->count = line.value("count");
    out->counts = line.value("counts");
    out->count_region = line.value("count-region", "roi");
    out->hints = line.value("hints", "kernel");
    out->stacks = line.value("stacks", "kernel");
    out->protections = line.value("protections", "guards");
    out->allow_fallback = line.has("allow-fallback");
    out->prefault = !line.has("no-prefault");
    out->verbose = line.has("verbose");
    out->program = line.rest;
    if (out->layout.empty()) return fail(2, "--layout", "not given", kSeeHelp);
    if (out->count.empty() != out->counts.empty())
        return fail(2, out->count.empty() ? "--counts" : "--count", "needs the other one of --count and --counts", kSeeHelp);
    if (out->program.empty()) return fail(2, "PROGRAM", "not given", kSeeHelp);
    return -1;
}

}  // namespace mosalloc::run
