// arguments.h - command lines from one declared table.
//
// Each program lists its parameters once: name, kind, default, bounds, sentence. The same table validates the
// command line and prints --help, so help, defaults and checks always agree.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::workloads {

enum class Kind { count, counts, size, real, choice, text, path, flag };  // text: checked by who reads it; path: not empty

struct Parameter {
    std::string name;      ///< without the leading dashes
    Kind kind;
    std::string fallback;  ///< default, as it would be typed; "" for flags and for what has none
    double least;          ///< inclusive bounds of count, each of counts, size (bytes) and real
    double most;
    std::string help;
    std::vector<std::string> choices = {};
    bool hidden = false;   ///< left out of --help (switches for tests)
};

class Arguments {
public:
    /// Parses argv[1..]; throws Error on an unknown, repeated, malformed or out-of-bounds argument.
    Arguments(std::string program, std::vector<Parameter> table, int argc, const char* const* argv);

    bool help_asked() const { return help_asked_; }
    std::string help(const std::string& summary) const;

    uint64_t count(const std::string& name) const;  ///< count and size parameters
    std::vector<uint64_t> counts(const std::string& name) const;  ///< at least one
    double real(const std::string& name) const;
    const std::string& text(const std::string& name) const;
    bool flag(const std::string& name) const;
    bool given(const std::string& name) const;  ///< typed, or has a default; the other readers need that

private:
    const Parameter& find(const std::string& name) const;
    void check(const Parameter& parameter, const std::string& text) const;
    void check_bounds(const Parameter& parameter, const std::string& text, double value) const;
    std::string owner(const Parameter& parameter) const;

    std::string program_;
    std::vector<Parameter> table_;
    std::map<std::string, std::string> values_;  ///< as typed; already checked
    bool help_asked_ = false;
};

}  // namespace tessera::workloads
