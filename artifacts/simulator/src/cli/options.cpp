#include "cli/options.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/text.h"

namespace tessera::sim {
namespace {

std::string flag_of(const OptionInfo& option) { return "--" + option.name + " " + option.value; }

void print_help(const CommandHelp& help) {
    std::printf("tessera-sim %s - %s\n\n", help.command.c_str(), help.sentence.c_str());
    size_t width = 0;
    for (const OptionInfo& option : help.options) width = std::max(width, flag_of(option).size());
    for (const OptionInfo& option : help.options) {
        const std::string fallback = !option.fallback ? " (required)" : option.fallback->empty() ? "" : " [" + *option.fallback + "]";
        std::printf("  %-*s  %s%s\n", int(width), flag_of(option).c_str(), option.sentence.c_str(), fallback.c_str());
    }
    for (const std::string& note : help.notes) std::printf("\n%s\n", note.c_str());
    if (!help.examples.empty()) std::puts("\nExamples:");
    for (const std::string& example : help.examples) std::printf("  %s\n", example.c_str());
}

}  // namespace

Options::Options(const CommandHelp& help, int argc, char** argv) {
    Syntax syntax{help.command + ": ", "tessera-sim " + help.command, {}};
    for (const OptionInfo& option : help.options) syntax.options.push_back({option.name, true, !option.fallback});
    if (const Problem problem = read_command_line(syntax, {argv, argv + argc}, &line_)) throw Refusal(problem);
    if (line_.help) print_help(help);
    for (const OptionInfo& option : help.options) values_[option.name] = line_.value(option.name, option.fallback.value_or(""));
}

uint64_t Options::whole(const std::string& key, uint64_t least) const {
    const std::string& text = values_.at(key);
    const auto value = whole_number(text);
    if (!value || *value < least)
        throw Refusal("--" + key + " " + text, "not a whole number of at least " + std::to_string(least), "write decimal digits");
    return *value;
}

}  // namespace tessera::sim
