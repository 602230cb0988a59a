// command_line.h - options of a command line, from a table.
//
// `--name value`, `--name=value` and `--name` for options without a value, each once, in any order. --help and -h are known
// everywhere. What values mean is the caller's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tessera/common/problem.h"
#include "tessera/common/text.h"

namespace tessera {

struct Option {
    std::string name;                       ///< without the dashes
    bool takes_value = true;
    bool required = false;
    std::vector<std::string> choices = {};  ///< the values that it takes; empty: any
    bool hidden = false;                    ///< in no message
};

struct CommandLine {
    std::map<std::string, std::string> values;  ///< of the options that were given
    std::vector<std::string> rest;              ///< the words behind the options
    bool help = false;                          ///< asked for; nothing else was checked

    bool has(const std::string& name) const { return values.count(name) != 0; }
    std::string value(const std::string& name, const std::string& otherwise = "") const {
        const auto found = values.find(name);
        return found == values.end() ? otherwise : found->second;
    }
};

/// How the messages name things: `owner` is before each option, as in "run: --trace"; `program` has a --help.
struct Syntax {
    std::string owner, program;
    std::vector<Option> options;
    bool takes_rest = false;  ///< words follow: options end at `--` or at a word without dashes
};

/// Reads `words`; returns the first problem.
inline Problem read_command_line(const Syntax& syntax, const std::vector<std::string>& words, CommandLine* out) {
    const std::string see = "see " + syntax.program + " --help";
    size_t at = 0;
    for (; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "--help" || word == "-h") return out->help = true, Problem{};
        if (syntax.takes_rest && (word == "--" || word.substr(0, 1) != "-")) break;
        if (word.substr(0, 2) != "--") return {syntax.owner + "argument " + in_quotes(word), "arguments start with --", see};
        const size_t equals = word.find('=');
        const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2), asked = syntax.owner + "--" + name;
        const Option* option = nullptr;
        std::vector<std::string> valid;
        for (const Option& one : syntax.options) {
            if (one.name == name) option = &one;
            if (!one.hidden) valid.push_back("--" + one.name);
        }
        if (option == nullptr) return {asked, "no such option", "use one of: " + join(valid) + "; " + see};
        if (out->has(name)) return {asked, "given twice", "give it once"};
        std::string value;
        if (!option->takes_value && equals != std::string::npos) return {asked, "takes no value", "write only --" + name};
        if (equals != std::string::npos) value = word.substr(equals + 1);
        else if (option->takes_value && at + 1 == words.size()) return {asked, "its value is missing", see};
        else if (option->takes_value) value = words[++at];
        bool chosen = option->choices.empty();
        for (const std::string& choice : option->choices) chosen |= choice == value;
        if (!chosen) return {asked, in_quotes(value) + " is not a valid value", "use one of: " + join(option->choices)};
        out->values[name] = value;
    }
    if (at < words.size() && words[at] == "--") ++at;
    out->rest.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    for (const Option& option : syntax.options)
        if (option.required && !out->has(option.name)) return {syntax.owner + "--" + option.name, "not given", see};
    return {};
}

}  // namespace tessera
