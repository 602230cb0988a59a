// commands.h - the subcommands of tessera-sim, one file each.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tessera::sim {

/// `--key value` pairs of a subcommand. Throws Refusal on unknown, repeated, missing or valueless options.
class Options {
public:
    Options(const std::string& command, int argc, char** argv, const std::vector<std::string>& required,
            const std::map<std::string, std::string>& optional);
    const std::string& operator[](const std::string& key) const { return values_.at(key); }

private:
    std::map<std::string, std::string> values_;
};

int run_command(int argc, char** argv);
int profile_command(int argc, char** argv);
int keys_command();
int engines_command();
int cpuid_command();

}  // namespace tessera::sim
