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

Options::Options(const CommandHelp& help, int argc, char** argv) { parse(help, argc, argv); }

void Options::parse(const CommandHelp& help, int argc, char** argv) {
    for (int i = 0; i < argc; ++i)
        if (const std::string word = argv[i]; word == "--help" || word == "-h") {
            print_help(help);
            wants_help_ = true;
            return;
        }
    std::vector<std::string> valid;
    for (const OptionInfo& option : help.options) valid.push_back("--" + option.name);
    const std::string usage = "tessera-sim " + help.command + " takes " + join(valid, ", ") + ", each with a value; see --help";
    const std::string& command = help.command;
    for (int i = 0; i < argc; i += 2) {
        const std::string flag = argv[i];
        if (std::find(valid.begin(), valid.end(), flag) == valid.end())
            throw Refusal(command + ": option " + flag, "no such option", usage);
        if (i + 1 == argc) throw Refusal(command + ": option " + flag, "its value is missing", usage);
        if (!given_.emplace(flag.substr(2), argv[i + 1]).second) throw Refusal(command + ": option " + flag, "given twice", usage);
    }
    values_ = given_;
    for (const OptionInfo& option : help.options) {
        if (given_.contains(option.name)) continue;
        if (!option.fallback) throw Refusal(command + ": option --" + option.name, "missing", usage);
        values_.emplace(option.name, *option.fallback);
    }
}

uint64_t Options::whole(const std::string& key, uint64_t least) const {
    const std::string& text = values_.at(key);
    const auto value = parse_unsigned(text);
    if (!value || *value < least)
        throw Refusal("--" + key + " " + text, "not a whole number of at least " + std::to_string(least), "write decimal digits");
    return *value;
}

}  // namespace tessera::sim
