// commands.h - the subcommands of tessera-sim, one file each, and one row each in commands.cpp.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace tessera::sim {

struct Command {
    const char* name;
    const char* sentence;
    /// Gets the arguments behind its name; returns the exit status.
    int (*run)(int argc, char** argv);
};

/// In the order in which `tessera-sim --help` shows them.
const std::vector<Command>& commands();

int run_command(int argc, char** argv);
int profile_command(int argc, char** argv);
int blocks_command(int argc, char** argv);
int check_command(int argc, char** argv);
int list_command(int argc, char** argv);
int keys_command();
int engines_command();
int cpuid_command();

}  // namespace tessera::sim
