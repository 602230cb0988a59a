// registry.h - named components: one file and one registration line each, chosen by name in a platform file.
//
// A kind of component (replacement, prefetcher, page-table format, ...) has one Registry<Interface, Arguments...>.
// Registrations are static objects. A duplicate name aborts at start-up; the error for an unknown name lists the valid names.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/chosen.h"
#include "base/error.h"
#include "base/text.h"

namespace tessera::sim {

/// The data that `tessera-sim list` and `tessera-sim keys` print about a component.
struct ComponentInfo {
    std::string name, sentence;
    std::string section = {};       ///< where its own keys are: `design.anchor`
    std::vector<OwnKey> keys = {};
};

template <class Interface, class... Arguments>
class Registry {
public:
    using Make = std::function<std::unique_ptr<Interface>(const OwnValues&, Arguments...)>;

    /// `kind` is what messages call it: "walk cache"; keys of its components are in the section `walk_cache`.
    explicit Registry(std::string kind) : kind_(std::move(kind)), section_(kind_) {
        for (char& c : section_) c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }

    const std::string& kind() const { return kind_; }
    const std::string& section() const { return section_; }

    void add(const std::string& name, const std::string& sentence, std::vector<OwnKey> keys, Make make) {
        if (!rows_.emplace(name, Row{{name, sentence, section_ + "." + name, std::move(keys)}, std::move(make)}).second) {
            std::fprintf(stderr, "tessera-sim: two %ss have the name %s\n", kind_.c_str(), name.c_str());
            std::abort();
        }
    }

    std::unique_ptr<Interface> make(const Chosen& chosen, Arguments... arguments) const {
        const Row& row = find(chosen.name);
        return row.make(OwnValues(row.info.section, row.info.keys, chosen.own), std::forward<Arguments>(arguments)...);
    }

    /// Throws Refusal with the valid names.
    const ComponentInfo& info(const std::string& name) const { return find(name).info; }

    bool has(const std::string& name) const { return rows_.contains(name); }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& [name, row] : rows_) all.push_back(name);
        return all;
    }
    std::vector<ComponentInfo> list() const {
        std::vector<ComponentInfo> all;
        for (const auto& [name, row] : rows_) all.push_back(row.info);
        return all;
    }

private:
    struct Row {
        ComponentInfo info;
        Make make;
    };
    const Row& find(const std::string& name) const {
        const auto found = rows_.find(name);
        if (found == rows_.end()) throw Refusal(kind_ + " '" + name + "'", "no such " + kind_, "choose one of: " + join(names()));
        return found->second;
    }

    std::string kind_, section_;
    std::map<std::string, Row> rows_;
};

/// The registration line at the end of a component's file:
/// `const Registered row(replacements(), "lru", "what it is", [](size_t sets, size_t ways, const Platform&) { return std::make_unique<Lru>(sets, ways); });`
/// If the component has its own keys, their values come first:
/// `const Registered row(designs(), "anchor", "what it is", {{"distance_pages", "pages", 1, 512, 8, "assumed: why", "what it means"}},
///                       [](const OwnValues& own, const DesignContext& context) { return std::make_unique<Anchor>(own["distance_pages"], context); });`
struct Registered {
    template <class Interface, class... Arguments>
    Registered(Registry<Interface, Arguments...>& registry, const std::string& name, const std::string& sentence,
               std::type_identity_t<std::function<std::unique_ptr<Interface>(Arguments...)>> make) {
        registry.add(name, sentence, {}, [make = std::move(make)](const OwnValues&, Arguments... arguments) {
            return make(std::forward<Arguments>(arguments)...);
        });
    }
    template <class Interface, class... Arguments>
    Registered(Registry<Interface, Arguments...>& registry, const std::string& name, const std::string& sentence, std::vector<OwnKey> keys,
               std::type_identity_t<typename Registry<Interface, Arguments...>::Make> make) {
        registry.add(name, sentence, std::move(keys), std::move(make));
    }
};

}  // namespace tessera::sim
