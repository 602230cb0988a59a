// arguments.cpp - see arguments.h.
#include "common/arguments.h"

#include <sstream>
#include <string_view>

#include "common/number.h"
#include "tessera/common/command_line.h"

namespace tessera::workloads {
namespace {

std::string plain(double number) {
    std::ostringstream out;
    out.precision(17);
    out << number;
    return out.str();
}

}  // namespace

Arguments::Arguments(std::string program, std::vector<Parameter> table, int argc, const char* const* argv)
    : program_(std::move(program)), table_(std::move(table)) {
    Syntax syntax{program_ + ": ", program_, {}};
    for (const Parameter& parameter : table_)
        syntax.options.push_back({parameter.name, parameter.kind != Kind::flag, false, parameter.choices, parameter.hidden});
    CommandLine line;
    if (const Problem problem = read_command_line(syntax, {argv + 1, argv + argc}, &line)) throw Error(problem);
    help_asked_ = line.help;
    values_ = std::move(line.values);
    for (const Parameter& parameter : table_) {
        const auto given = values_.find(parameter.name);
        if (given != values_.end()) check(parameter, given->second);
        else if (!parameter.fallback.empty() && !help_asked_) values_[parameter.name] = parameter.fallback;
    }
}

void Arguments::check(const Parameter& parameter, const std::string& text) const {
    double value = 0;
    switch (parameter.kind) {
        case Kind::flag:
        case Kind::choice:
        case Kind::text: return;
        case Kind::path:
            if (text.empty()) throw Error(owner(parameter), "the name of the file is empty", "give the name of a file");
            return;
        case Kind::counts:
            for (const std::string_view part : split(text, ','))
                check_bounds(parameter, std::string(part), static_cast<double>(parse_count(owner(parameter), part)));
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
    for (const Parameter& parameter : table_)
        if (parameter.name == name) return parameter;
    throw Error(program_ + ": --" + name, "the program has no such parameter", "report it");
}

std::string Arguments::owner(const Parameter& parameter) const { return program_ + ": --" + parameter.name; }

std::string Arguments::help(const std::string& summary) const {
    std::ostringstream out;
    out << program_ << " - " << summary << "\n\n";
    for (const Parameter& parameter : table_) {
        if (parameter.hidden) continue;
        out << "  --" << parameter.name;
        if (parameter.kind == Kind::choice) out << " {" << join(parameter.choices) << "}";
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
    for (const std::string_view part : split(values_.at(name), ',')) found.push_back(parse_count(owner(parameter), part));
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
