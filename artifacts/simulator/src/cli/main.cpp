// main.cpp - tessera-sim: picks the subcommand, turns refusals into exit statuses.
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "cli/commands.h"
#include "tessera/trace/trace.h"

namespace {

const char* const usage =
    "tessera-sim run --trace T --platform FLAT --layouts LISTFILE --engine NAME [--sampling full|units=..,..] [--group 16]\n"
    "tessera-sim profile --trace T --platform FLAT --out misses.csv\n"
    "tessera-sim keys | engines | cpuid\n";

int dispatch(int argc, char** argv) {
    using namespace tessera::sim;
    const char* command = argc > 1 ? argv[1] : "";
    if (std::strcmp(command, "run") == 0) return run_command(argc - 2, argv + 2);
    if (std::strcmp(command, "profile") == 0) return profile_command(argc - 2, argv + 2);
    if (std::strcmp(command, "keys") == 0 && argc == 2) return keys_command();
    if (std::strcmp(command, "engines") == 0 && argc == 2) return engines_command();
    if (std::strcmp(command, "cpuid") == 0 && argc == 2) return cpuid_command();
    if (std::strcmp(command, "--help") == 0 || std::strcmp(command, "help") == 0) {
        std::fputs(usage, stdout);
        return 0;
    }
    throw Refusal("command '" + std::string(command) + "'", "no such command with these arguments",
                  std::string("use one of\n") + usage);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return dispatch(argc, argv);
    } catch (const tessera::sim::Refusal& refusal) {
        std::fprintf(stderr, "tessera-sim: %s\n", refusal.what());
        return 2;
    } catch (const tessera::trace::TraceError& error) {
        std::fprintf(stderr, "tessera-sim: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tessera-sim: %s\n  what to do: this is a failure of the machine or a bug; report it with the command line\n", error.what());
        return 1;
    }
}
