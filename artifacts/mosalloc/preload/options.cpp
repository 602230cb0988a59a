#include "preload/options.h"

#include <cstddef>
#include <cstring>

namespace mosalloc {
namespace {

constexpr const char* kAny = nullptr;
constexpr const char* kNumber = "a number of bytes";

constexpr struct {
    const char* name;
    const char* Options::* value;
    const char* allowed;  ///< words with spaces between them, kAny or kNumber
} kTable[] = {
    {"MOSALLOC_LAYOUT", &Options::layout, kAny},
    {"MOSALLOC_TARGET", &Options::target, kAny},
    {"MOSALLOC_STARTERS", &Options::starters, "0 1"},
    {"MOSALLOC_POOL_MAP", &Options::pool_map, kAny},
    {"MOSALLOC_PREFAULT", &Options::prefault, "0 1"},
    {"MOSALLOC_ALLOW_FALLBACK", &Options::fallback, "0 1"},
    {"MOSALLOC_RESERVATIONS", &Options::reservations, "kernel refuse"},
    {"MOSALLOC_THP", &Options::thp, "kernel off"},
    {"MOSALLOC_VERBOSE", &Options::verbose, "0 1"},
    {"MOSALLOC_HINTS", &Options::hints, "kernel pool"},
    {"MOSALLOC_STACKS", &Options::stacks, "kernel pool"},
    {"MOSALLOC_PROTECTIONS", &Options::protections, "soft guards exact"},
    {"MOSALLOC_KEEP_BYTES", &Options::keep, kNumber},
};

const char* value_of(const char* variable, const char* name) {
    while (*name != 0 && *variable == *name) ++variable, ++name;
    return *name == 0 && *variable == '=' ? variable + 1 : nullptr;
}

bool is_number(const char* text) {
    size_t digits = 0;
    while (text[digits] >= '0' && text[digits] <= '9') ++digits;
    return digits > 0 && digits < 19 && text[digits] == 0;
}

bool is_allowed(const char* value, const char* allowed) {
    if (allowed == kAny) return true;
    if (allowed == kNumber) return is_number(value);
    const size_t length = strlen(value);
    for (const char* word = allowed; word != nullptr && length != 0;) {
        if (strncmp(word, value, length) == 0 && (word[length] == ' ' || word[length] == 0)) return true;
        word = strchr(word, ' ');
        word = word == nullptr ? nullptr : word + 1;
    }
    return false;
}

uint64_t number(const char* text) {
    uint64_t value = 0;
    for (; *text != 0; ++text) value = value * 10 + static_cast<uint64_t>(*text - '0');
    return value;
}

}  // namespace

bool read_options(char** environment, Options* out, const char** bad, const char** allowed) {
    for (char** variable = environment; *variable != nullptr; ++variable)
        for (const auto& row : kTable) {
            const char* value = value_of(*variable, row.name);
            if (value == nullptr) continue;
            if (!is_allowed(value, row.allowed)) {
                *bad = row.name;
                *allowed = row.allowed;
                return false;
            }
            out->*row.value = *value == 0 ? nullptr : value;  // an empty path is no path
        }
    // The recorder sets a pool map and no other option, because each variable moves the recorded stack.
    if (out->reservations == nullptr) out->reservations = out->pool_map == nullptr ? "kernel" : "refuse";
    return true;
}

Policy Options::policy() const {
    Policy policy;
    policy.protections = is(&Options::protections, "soft")    ? Protections::soft
                         : is(&Options::protections, "exact") ? Protections::exact
                                                              : Protections::guards;
    policy.on_demand = is(&Options::prefault, "0");
    policy.keep_bytes = number(keep);
    return policy;
}

}  // namespace mosalloc
