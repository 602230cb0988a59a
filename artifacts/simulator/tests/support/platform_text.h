// platform_text.h - a valid flat platform file for tests: each key at its least value, with the structures that must exist.
#pragma once

#include <map>
#include <string>

#include "base/platform.h"

namespace tessera::sim::testing {

/// `change`: key -> value as text. A value of "-" leaves the key out.
inline std::string platform_text(const std::map<std::string, std::string>& change = {}) {
    std::string text = "# comment\n\n";
    for (const PlatformKey& row : platform_keys()) {
        const std::string key = row.key;
        std::string value = row.word ? row.fallback : std::to_string(row.least);
        if (key.starts_with("cache.") && key.ends_with(".bytes")) value = "65536";
        if (key.starts_with("tlb.l1d.") && (key.ends_with(".entries") || key.ends_with(".ways"))) value = "1";
        if (const auto found = change.find(key); found != change.end()) value = found->second;
        if (value != "-") text += key + " = " + value + "\n";
    }
    return text;
}

}  // namespace tessera::sim::testing
