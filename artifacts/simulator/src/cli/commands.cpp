// commands.cpp - the table of subcommands: one row each.
#include "cli/commands.h"

#include "base/error.h"

namespace tessera::sim {
namespace {

/// For commands without options.
template <int (*command)()>
int alone(int argc, char** argv) {
    if (argc > 0) throw Refusal(std::string("argument ") + argv[0], "this command takes no arguments", "remove it");
    return command();
}

}  // namespace

const std::vector<Command>& commands() {
    static const std::vector<Command> table = {
        {"run", "replay a trace under many layouts; print H, M, C and R of each as CSV", run_command},
        {"profile", "count the STLB misses of the 4KB layout by 2MB region", profile_command},
        {"blocks", "write basic-block vectors of the intervals of a trace (input of clustered sampling)", blocks_command},
        {"check", "check that a flat platform file can be simulated", check_command},
        {"engines", "list the engines of `run --engine`", alone<engines_command>},
        {"list", "list the components that a platform file can name, by kind: replacements, prefetchers, ...", list_command},
        {"keys", "print all keys of a platform file, with unit and meaning, as CSV", alone<keys_command>},
        {"cpuid", "print this processor's TLBs and caches, as CPUID reports them, as JSON", alone<cpuid_command>},
    };
    return table;
}

}  // namespace tessera::sim
