// options.h - parses the `--name value` pairs of a subcommand and prints its help text from the same table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/common/command_line.h"

namespace tessera::sim {

struct OptionInfo {
    std::string name;                    ///< without the dashes
    std::string value;                   ///< what to write behind it, in capitals: FILE
    std::optional<std::string> fallback; ///< its value when it is not given ("" : not given); none: it is required
    std::string sentence;
};

struct CommandHelp {
    std::string command, sentence;
    std::vector<OptionInfo> options;
    std::vector<std::string> examples, notes;
};

class Options {
public:
    /// Throws Refusal on unknown, repeated, missing or valueless options. `--help` prints the help on stdout instead, and then
    /// wants_help() is true.
    Options(const CommandHelp& help, int argc, char** argv);

    bool wants_help() const { return line_.help; }
    const std::string& operator[](const std::string& key) const { return values_.at(key); }
    /// The option was given on the command line.
    bool given(const std::string& key) const { return line_.has(key); }
    /// Its value as a whole number of at least `least`; throws Refusal.
    uint64_t whole(const std::string& key, uint64_t least) const;

private:
    CommandLine line_;
    std::map<std::string, std::string> values_;  ///< with the defaults
};

}  // namespace tessera::sim
