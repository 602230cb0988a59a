// arguments.cpp - see arguments.h.
#include "common/arguments.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "common/error.h"
#include "common/number.h"

namespace tessera::workloads {
namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const auto& word : words) all += (all.empty() ? "" : ", ") + word;
    return all;
}

/// The parts of a list such as 16,32,64; an empty part stays, so that its parsing complains.
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    for (size_t comma; (comma = text.find(',')) != std::string_view::npos; text.remove_prefix(comma + 1))
        parts.push_back(text.substr(0, comma));
    parts.push_back(text);
    return parts;
}

std::string plain(double number) {
    std::ostringstream out;
    out.precision(17);
    out << number;
    return out.str();
}

}  // namespace

Arguments::Arguments(std::string program, std::vector<Parameter> table, int argc, const char* const* argv)
    : program_(std::move(program)), table_(std::move(table)) {
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--help" || argument == "-h") {
            help_asked_ = true;
            return;
        }
        if (!argument.starts_with("--"))
            throw Error(program_ + ": argument '" + argument + "'", "arguments start with --", "see " + program_ + " --help");
        const size_t equals = argument.find('=');
        const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
        const Parameter& parameter = find(name);
        if (values_.contains(name)) throw Error(owner(parameter), "given twice", "give it once");

        std::string value;
        if (parameter.kind == Kind::flag) {
            if (equals != std::string::npos) throw Error(owner(parameter), "takes no value", "write only --" + name);
            value = "yes";
        } else if (equals != std::string::npos) {
            value = argument.substr(equals + 1);
        } else if (i + 1 < argc) {
            value = argv[++i];
        } else {
            throw Error(owner(parameter), "its value is missing", "see " + program_ + " --help");
        }
        check(parameter, value);
        values_[name] = value;
    }
    for (const Parameter& parameter : table_)
        if (!parameter.fallback.empty()) values_.try_emplace(parameter.name, parameter.fallback);
}

void Arguments::check(const Parameter& parameter, const std::string& text) const {
    double value = 0;
    switch (parameter.kind) {
        case Kind::flag:
        case Kind::text: return;
        case Kind::path:
            if (text.empty()) throw Error(owner(parameter), "the name of the file is empty", "give the name of a file");
            return;
        case Kind::counts:
            for (const std::string_view part : parts_of(text))
                check_bounds(parameter, std::string(part), static_cast<double>(parse_count(owner(parameter), part)));
            return;
        case Kind::choice:
            if (std::ranges::find(parameter.choices, text) == parameter.choices.end())
                throw Error(owner(parameter), "'" + text + "' is not a valid value", "use one of: " + joined(parameter.choices));
            return;
        case Kind::count: value = static_cast<double>(parse_count(owner(parameter), text)); break;
        case Kind::size: value = static_cast<double>(parse_size(owner(parameter), text)); break;
        case Kind::real: value = parse_real(owner(parameter), text); break;
    }
    check_bounds(parameter, text, value);
}

void Arguments::check_bounds(const Parameter& parameter, const std::string& text, double value) const {
    if (value < parameter.least || value > parameter.most)
        throw Error(owner(parameter), "'" + text + "' is out of bounds",
                    "give a value from " + plain(parameter.least) + " to " + plain(parameter.most));
}

const Parameter& Arguments::find(const std::string& name) const {
    std::vector<std::string> valid;
    for (const Parameter& parameter : table_) {
        if (parameter.name == name) return parameter;
        if (!parameter.hidden) valid.push_back("--" + parameter.name);
    }
    throw Error(program_ + ": argument '--" + name + "'", "no such argument", "use one of: " + joined(valid));
}

std::string Arguments::owner(const Parameter& parameter) const { return program_ + ": --" + parameter.name; }

std::string Arguments::help(const std::string& summary) const {
    std::ostringstream out;
    out << program_ << " - " << summary << "\n\n";
    for (const Parameter& parameter : table_) {
        if (parameter.hidden) continue;
        out << "  --" << parameter.name;
        if (parameter.kind == Kind::choice) out << " {" << joined(parameter.choices) << "}";
        if (!parameter.fallback.empty()) out << " (default " << parameter.fallback << ")";
        out << "\n      " << parameter.help << "\n";
    }
    if (!table_.empty()) out << "\nExample: " << program_ << " --" << table_[0].name << " " << table_[0].fallback << "\n";
    return out.str();
}

uint64_t Arguments::count(const std::string& name) const {
    const Parameter& parameter = find(name);
    const std::string& text = values_.at(name);
    return parameter.kind == Kind::size ? parse_size(owner(parameter), text) : parse_count(owner(parameter), text);
}

std::vector<uint64_t> Arguments::counts(const std::string& name) const {
    const Parameter& parameter = find(name);
    std::vector<uint64_t> found;
    for (const std::string_view part : parts_of(values_.at(name))) found.push_back(parse_count(owner(parameter), part));
    return found;
}

double Arguments::real(const std::string& name) const { return parse_real(owner(find(name)), values_.at(name)); }

const std::string& Arguments::text(const std::string& name) const {
    find(name);
    return values_.at(name);
}

bool Arguments::flag(const std::string& name) const { return given(name); }

bool Arguments::given(const std::string& name) const {
    find(name);
    return values_.contains(name);
}

}  // namespace tessera::workloads
