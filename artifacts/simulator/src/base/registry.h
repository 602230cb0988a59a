// registry.h - named components: one file and one registration line each, chosen by name in a platform file.
//
// A kind of component (replacement, prefetcher, page-table format, ...) has one Registry<Interface, Arguments...>.
// Registrations are static objects; a duplicate name aborts at start-up, an unknown name is refused with the valid ones.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tessera::sim {

/// What `tessera-sim list` prints of one component.
struct ComponentInfo {
    std::string name, sentence;
};

template <class Interface, class... Arguments>
class Registry {
public:
    using Make = std::function<std::unique_ptr<Interface>(Arguments...)>;

    /// `kind` is what messages call it: "replacement".
    explicit Registry(std::string kind) : kind_(std::move(kind)) {}

    const std::string& kind() const { return kind_; }

    void add(const std::string& name, const std::string& sentence, Make make) {
        if (!rows_.emplace(name, Row{sentence, std::move(make)}).second) {
            std::fprintf(stderr, "tessera-sim: two %ss are called %s\n", kind_.c_str(), name.c_str());
            std::abort();
        }
    }

    std::unique_ptr<Interface> make(const std::string& name, Arguments... arguments) const {
        const auto found = rows_.find(name);
        if (found == rows_.end())
            throw Refusal(kind_ + " '" + name + "'", "no such " + kind_, "choose one of: " + join(names(), ", "));
        return found->second.make(std::forward<Arguments>(arguments)...);
    }

    bool has(const std::string& name) const { return rows_.contains(name); }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& [name, row] : rows_) all.push_back(name);
        return all;
    }
    std::vector<ComponentInfo> list() const {
        std::vector<ComponentInfo> all;
        for (const auto& [name, row] : rows_) all.push_back({name, row.sentence});
        return all;
    }

private:
    struct Row {
        std::string sentence;
        Make make;
    };
    std::string kind_;
    std::map<std::string, Row> rows_;
};

/// The registration line at the end of a component's file:
/// `const Registered row(replacements(), "lru", "what it is", [](size_t sets, size_t ways) { return std::make_unique<Lru>(sets, ways); });`
struct Registered {
    template <class Interface, class... Arguments>
    Registered(Registry<Interface, Arguments...>& registry, const std::string& name, const std::string& sentence,
               std::type_identity_t<typename Registry<Interface, Arguments...>::Make> make) {
        registry.add(name, sentence, std::move(make));
    }
};

}  // namespace tessera::sim
