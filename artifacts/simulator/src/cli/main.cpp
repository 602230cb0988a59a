// main.cpp - tessera-sim: calls the subcommand and turns errors into exit statuses.
#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "tessera/trace/printable.h"
#include "tessera/trace/trace.h"

namespace {

using namespace tessera::sim;
void print_usage() {
    std::puts(
        "tessera-sim - replay a recorded trace under many layouts\n\n"
        "  tessera-sim COMMAND [--option value]...      see `tessera-sim run --help` for the options\n");
    for (const Command& command : commands()) std::printf("  %-9s %s\n", command.name, command.sentence);
    std::puts(
        "\nExample: H, M and C of three layouts. (`tessera simulate` writes the platform file itself, from config/platforms.)\n"
        "  printf '%s\\n' L/growing-0.csv L/growing-4.csv L/growing-8.csv > list\n"
        "  tessera-sim run --trace gups.tst --platform haswell.flat --layouts list --engine partial > cells.csv\n\n"
        "Exit status: 0 success; 1 failure of the machine or a bug; 2 wrong request or damaged input; 130, 143 stopped by a signal.");
}

int dispatch(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    std::vector<std::string> names;
    for (const Command& command : commands()) {
        if (name == command.name) return command.run(argc - 2, argv + 2);
        names.push_back(command.name);
    }
    if (name == "--help" || name == "-h" || name == "help") {
        print_usage();
        return 0;
    }
    throw Refusal("command '" + name + "'", "no such command", "use one of: " + tessera::join(names) + "; see tessera-sim --help");
}

int failed(const std::exception& error, int status, const char* more = "") {
    // Messages have texts of traces, layouts and mappings.
    std::fprintf(stderr, "tessera-sim: %s%s\n", tessera::trace::printable_lines(error.what()).c_str(), more);
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const int status = dispatch(argc, argv);
        flush_or_fail(stdout, "standard output");
        return status;
    } catch (const tessera::trace::TraceError& error) {
        return failed(error, tessera::kExitUsage);
    } catch (const tessera::Error& error) {
        return failed(error, error.exit_status());
    } catch (const std::exception& error) {
        return failed(error, tessera::kExitFailed, "\n  what to do: report this failure or bug with the command line");
    }
}
