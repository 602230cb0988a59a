// platform.cpp - reads a flat platform file and checks it against the table of keys. platform_rules.cpp has the rules
// between keys.
#include "base/platform.h"

#include <map>
#include <optional>

#include "base/error.h"
#include "base/platform_rules.h"
#include "base/text.h"

namespace tessera::sim {
namespace {

const PlatformKey* find_key(std::string_view key) {
    for (const PlatformKey& row : platform_keys())
        if (key == row.key) return &row;
    return nullptr;
}

std::vector<std::string> names_of(auto&& wanted) {
    std::vector<std::string> names;
    for (const PlatformKey& row : platform_keys())
        if (wanted(row)) names.push_back(row.key);
    return names;
}

/// `design.anchor.distance_pages`, if its first part is the section of a kind of components: "design.anchor", "distance_pages".
std::optional<std::pair<std::string, std::string>> own_key(const std::string& key) {
    const auto parts = split(key, '.');
    if (parts.size() != 3 || parts[1].empty() || parts[2].empty()) return std::nullopt;
    for (const PlatformKey& row : platform_keys())
        if (row.word != nullptr && parts[0] == row.section) return std::pair(key.substr(0, key.rfind('.')), std::string(parts[2]));
    return std::nullopt;
}

/// Sets the defaults of keys that the file leaves out, and gives each component the numbers of its section.
void complete(Platform& platform, const auto& seen, const std::string& name) {
    const auto missing = names_of([&](const PlatformKey& row) { return *row.fallback == '\0' && !seen.contains(row.key); });
    if (!missing.empty())
        throw Refusal("platform " + name, "keys missing: " + join(missing),
                      "set them, because they have no default (`tessera-sim keys` describes them)");
    for (const PlatformKey& row : platform_keys()) {
        if (!seen.contains(row.key)) {
            platform.filled.push_back(row.key);
            if (row.word != nullptr) row.word(platform) = row.fallback;
            else row.field(platform) = digits_of(row.fallback);
        }
        if (row.word == nullptr) continue;
        Chosen& chosen = row.word(platform);
        if (const auto found = platform.sections.find(std::string(row.section) + "." + chosen.name); found != platform.sections.end())
            chosen.own = found->second;
    }
}

}  // namespace

Platform parse_platform(const std::string& text, const std::string& name) {
    Platform platform;
    std::map<std::string, size_t, std::less<>> seen;
    size_t line_number = 0;
    for (std::string_view raw : split(text, '\n')) {
        ++line_number;
        const std::string_view line = trim(raw.substr(0, raw.find('#')));
        if (line.empty()) continue;
        const std::string where = "platform " + name + ", line " + std::to_string(line_number);
        const size_t equals = line.find('=');
        if (equals == std::string_view::npos)
            throw Refusal(where + ": `key = value`", "'" + std::string(line) + "'", "write one `key = value` per line");
        const std::string key(trim(line.substr(0, equals))), value(trim(line.substr(equals + 1)));
        const PlatformKey* row = find_key(key);
        const auto own = row == nullptr ? own_key(key) : std::nullopt;
        if (row == nullptr && !own)
            throw Refusal(where + ": key " + key, "no such key", did_you_mean(key, names_of([](const PlatformKey&) { return true; })));
        if (const auto [before, fresh] = seen.emplace(key, line_number); !fresh)
            throw Refusal(where + ": key " + key, "already set on line " + std::to_string(before->second), "remove one of the two lines");
        const auto number = whole_number(value);
        if (own) {
            if (!number) throw Refusal(where + ": " + key + ", a whole number", "'" + value + "'", "correct the value");
            platform.sections[own->first][own->second] = *number;
            continue;
        }
        if (row->word != nullptr) {
            if (value.empty()) throw Refusal(where + ": " + key + ", a name", "nothing", "see `tessera-sim keys`");
            row->word(platform) = value;
            continue;
        }
        if (!number || *number < row->least || *number > row->most)
            throw Refusal(where + ": " + key + " in " + row->unit + ", a whole number from " + std::to_string(row->least) + " to " +
                              std::to_string(row->most),
                          "'" + value + "'", "correct the value");
        row->field(platform) = *number;
    }
    complete(platform, seen, name);
    check_platform_rules(name, platform);
    return platform;
}

Platform read_platform(const std::string& path) { return parse_platform(read_text(path, "platform file"), path); }

}  // namespace tessera::sim
