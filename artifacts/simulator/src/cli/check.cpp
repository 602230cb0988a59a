// check.cpp - `tessera-sim check --platform FLAT`: reads a platform as `run` does and simulates nothing.
#include <cstdio>

#include "base/platform.h"
#include "cli/commands.h"
#include "mmu/components.h"

namespace tessera::sim {

int check_command(int argc, char** argv) {
    const Options options("check", argc, argv, {"platform"}, {});
    check_components(read_platform(options["platform"]));
    std::printf("%s: accepted\n", options["platform"].c_str());
    return 0;
}

}  // namespace tessera::sim
