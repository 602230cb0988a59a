// commands.cpp - the table of subcommands: one row each.
#include "cli/commands.h"

#include "base/error.h"

namespace tessera::sim {
namespace {

/// For commands without options.
template <int (*command)()>
int alone(int argc, char** argv) {
    if (argc > 0) throw Refusal(std::string("argument ") + argv[0], "this command takes none", "leave it out");
    return command();
}

}  // namespace

const std::vector<Command>& commands() {
    static const std::vector<Command> table = {
        {"run", "replay a trace under many layouts: H, M, C and R of each as CSV", run_command},
        {"profile", "count the 4KB layout's STLB misses by 2MB region", profile_command},
        {"blocks", "basic-block vectors of the trace's parts (input of clustered sampling)", blocks_command},
        {"check", "say whether a flat platform file is one that can be simulated", check_command},
        {"engines", "the engines of `run --engine`", alone<engines_command>},
        {"list", "components that a platform file can name, by kind: replacement, prefetcher, ...", list_command},
        {"keys", "every key of a platform file, with unit and meaning, as CSV", alone<keys_command>},
        {"cpuid", "what this processor says about its TLBs and caches, as JSON", alone<cpuid_command>},
    };
    return table;
}

}  // namespace tessera::sim
