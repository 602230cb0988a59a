#include "preload/options.h"

#include <cstddef>

#include "core/text.h"

namespace mosalloc {
namespace {

constexpr struct {
    const char* name;
    const char* Options::*value;
    bool flag;  ///< only 0 and 1
} kTable[] = {
    {"MOSALLOC_LAYOUT", &Options::layout, false},
    {"MOSALLOC_TARGET", &Options::target, false},
    {"MOSALLOC_POOL_MAP", &Options::pool_map, false},
    {"MOSALLOC_PREFAULT", &Options::prefault, true},
    {"MOSALLOC_ALLOW_FALLBACK", &Options::fallback, true},
    {"MOSALLOC_VERBOSE", &Options::verbose, true},
};

const char* value_of(const char* variable, const char* name) {
    while (*name != 0 && *variable == *name) ++variable, ++name;
    return *name == 0 && *variable == '=' ? variable + 1 : nullptr;
}

}  // namespace

bool read_options(char** environment, Options* out, const char** bad) {
    for (char** variable = environment; *variable != nullptr; ++variable)
        for (const auto& row : kTable) {
            const char* value = value_of(*variable, row.name);
            if (value == nullptr) continue;
            if (row.flag && !same_text(value, "0") && !same_text(value, "1")) {
                *bad = row.name;
                return false;
            }
            out->*row.value = *value == 0 ? nullptr : value;  // an empty path is no path
        }
    return true;
}

}  // namespace mosalloc
