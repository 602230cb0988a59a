// chosen.h - a component that a platform names: its name, and the numbers in its section of the platform file.
//
// A component declares its own keys next to its registration (OwnKey). A platform file sets them as
// `<section>.<name>.<key> = number`, where <section> belongs to the component's kind (`design`, `replacement`, ...). The
// numbers are stored with the name. The registry checks them when it creates the component.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tessera::sim {

using OwnNumbers = std::map<std::string, uint64_t, std::less<>>;

struct Chosen {
    Chosen(const char* name) : name(name) {}
    Chosen(std::string name) : name(std::move(name)) {}
    Chosen(std::string name, OwnNumbers own) : name(std::move(name)), own(std::move(own)) {}
    operator const std::string&() const { return name; }
    friend bool operator==(const Chosen& a, std::string_view b) { return a.name == b; }

    std::string name;
    OwnNumbers own;  ///< key without its section -> value, as the platform file gives them
};

/// A number of a component. If it has no default, a platform that names the component must set it.
struct OwnKey {
    std::string key, unit;
    uint64_t least, most;
    std::optional<uint64_t> fallback;
    std::string source;  ///< of the default: a citation, or "assumed: why"; empty without one
    std::string sentence;
};

/// The values that a component is created with, one for each key that it declares.
class OwnValues {
public:
    /// Values of `chosen` against `keys`; `filled` gets the keys that took their defaults.
    /// Throws Refusal: unknown key, out of bounds, or none given and no default. `section` as in `design.anchor`.
    OwnValues(const std::string& section, const std::vector<OwnKey>& keys, const OwnNumbers& given, std::vector<OwnKey>* filled = nullptr) {
        std::vector<std::string> names;
        for (const OwnKey& row : keys) names.push_back(row.key);
        for (const auto& [key, value] : given)
            if (std::find(names.begin(), names.end(), key) == names.end())
                throw Refusal("platform key " + section + "." + key, "no such key", did_you_mean(key, names));
        for (const OwnKey& row : keys) {
            const auto found = given.find(row.key);
            if (found == given.end() && !row.fallback)
                throw Refusal("platform key " + section + "." + row.key, "missing, and it has no default",
                              "set it: " + row.sentence + " (`tessera-sim keys`)");
            if (found == given.end() && filled != nullptr) filled->push_back(row);
            const uint64_t value = found == given.end() ? *row.fallback : found->second;
            if (value < row.least || value > row.most)
                throw Refusal("platform key " + section + "." + row.key + " in " + row.unit + ", a whole number from " +
                                  std::to_string(row.least) + " to " + std::to_string(row.most),
                              "'" + std::to_string(value) + "'", "correct the value");
            values_[row.key] = value;
        }
    }

    /// Throws std::out_of_range (a mistake in the program) on a key that the component does not declare.
    uint64_t operator[](std::string_view key) const {
        const auto found = values_.find(key);
        if (found == values_.end())
            throw std::out_of_range("a component reads its key '" + std::string(key) + "', which it does not declare");
        return found->second;
    }

private:
    OwnNumbers values_;
};

}  // namespace tessera::sim
