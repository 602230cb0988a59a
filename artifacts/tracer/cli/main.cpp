// main.cpp - command line of tessera-trace.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "commands.h"
#include "pool_options.h"
#include "tessera/common/command_line.h"
#include "tessera/trace/printable.h"

namespace {

using namespace tessera::trace;
using namespace tessera::trace::cli;

constexpr const char* usage =
    "usage: tessera-trace info TRACE [--json]      check every frame and print a summary\n"
    "       tessera-trace verify TRACE             check every frame and the checksum\n"
    "       tessera-trace dump TRACE [ACCESSES]    print all blocks and the first accesses (default 100)\n"
    "       tessera-trace cut TRACE OUT --start N --accesses N   write a part of a trace as a new trace\n"
    "       tessera-trace import-champsim IN OUT [--mmap-pool START:END] [--brk-pool START:END]\n"
    "                      [--max-accesses N] [--program NAME]\n"
    "       tessera-trace export-champsim TRACE OUT\n"
    "       tessera-trace events TRACE [--csv]     print the program's calls to memory management\n"
    "       tessera-trace touches TRACE OUT        write the first access to each page of the pools, as CSV\n"
    "example: tessera-trace info gups.tst --json\n";

ImportOptions import_options(const std::vector<std::string>& words) {
    const tessera::Syntax syntax{"import-champsim ", "tessera-trace", {{"mmap-pool"}, {"brk-pool"}, {"max-accesses"}, {"program"}}};
    tessera::CommandLine given;
    if (const tessera::Problem wrong = read_command_line(syntax, words, &given)) throw UsageError(wrong);
    ImportOptions options;
    if (given.has("mmap-pool")) options.anon = pool_option("--mmap-pool", PoolKind::anon, given.value("mmap-pool"));
    if (given.has("brk-pool")) options.heap = pool_option("--brk-pool", PoolKind::heap, given.value("brk-pool"));
    if (given.has("max-accesses")) options.max_accesses = number("--max-accesses", given.value("max-accesses"));
    options.program = given.value("program");
    check_apart(options);
    return options;
}

int run(const std::vector<std::string>& words) {
    const std::string command = words.empty() ? "" : words[0];
    if (command == "--help" || command == "-h") return std::fputs(usage, stdout), 0;
    const size_t given = words.size();
    if (command == "info" && (given == 2 || (given == 3 && words[2] == "--json"))) return info(words[1], given == 3), 0;
    if (command == "verify" && given == 2) return verify(words[1]), 0;
    if (command == "dump" && (given == 2 || given == 3)) return dump(words[1], given == 3 ? number("dump", words[2]) : 100), 0;
    if (command == "cut" && given == 7 && words[3] == "--start" && words[5] == "--accesses")
        return cut(words[1], words[2], number(words[3], words[4]), number(words[5], words[6])), 0;
    if (command == "export-champsim" && given == 3) return export_champsim(words[1], words[2]), 0;
    if (command == "events" && (given == 2 || (given == 3 && words[2] == "--csv"))) return events(words[1], given == 3), 0;
    if (command == "touches" && given == 3) return touches(words[1], words[2]), 0;
    if (command == "import-champsim" && given >= 3)
        return std::fputs(import_champsim(words[1], words[2], import_options({words.begin() + 3, words.end()})).c_str(), stdout), 0;
    throw UsageError(command.empty() ? "command" : "command '" + command + "'", "no such command, or wrong arguments",
                     "run tessera-trace --help");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const int status = run({argv + 1, argv + argc});
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            throw TraceError("write standard output", std::strerror(errno), "free disk space, or write elsewhere");
        return status;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tessera-trace: %s\n", printable_lines(error.what()).c_str());
        const auto* const known = dynamic_cast<const tessera::Error*>(&error);
        return known ? known->exit_status() : tessera::kExitFailed;
    }
}
