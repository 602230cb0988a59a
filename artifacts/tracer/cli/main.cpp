// main.cpp - command line of tessera-trace.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "commands.h"
#include "pool_options.h"
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

[[noreturn]] void refuse(const std::string& asked, const std::string& found) {
    throw UsageError(asked + ": " + found + "\n  what to do: run tessera-trace --help");
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
    if (command == "import-champsim" && given >= 3 && given % 2 == 1) {
        ImportOptions options;
        std::set<std::string> seen;
        for (size_t i = 3; i < given; i += 2) {
            const std::string &option = words[i], &value = words[i + 1];
            if (!seen.insert(option).second) refuse("import-champsim " + option, "given twice");
            if (option == "--mmap-pool") options.anon = pool_option(option, PoolKind::anon, value);
            else if (option == "--brk-pool") options.heap = pool_option(option, PoolKind::heap, value);
            else if (option == "--program") options.program = value;
            else if (option == "--max-accesses") options.max_accesses = number(option, value);
            else refuse("import-champsim", "unknown option '" + option + "', or its value is missing");
        }
        check_apart(options);
        return std::fputs(import_champsim(words[1], words[2], options).c_str(), stdout), 0;
    }
    refuse(command.empty() ? "command" : "command '" + command + "'", "no such command, or wrong arguments");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const int status = run({argv + 1, argv + argc});
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            throw TraceError(std::string("write standard output: ") + std::strerror(errno) +
                             "\n  what to do: free disk space, or write elsewhere");
        return status;
    } catch (const UsageError& error) {
        std::fprintf(stderr, "tessera-trace: %s\n", printable_lines(error.what()).c_str());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tessera-trace: %s\n", printable_lines(error.what()).c_str());
        return 1;
    }
}
