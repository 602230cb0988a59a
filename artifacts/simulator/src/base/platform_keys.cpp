// platform_keys.cpp - the rows of platform_keys.def as data.
#include "base/platform.h"

namespace tessera::sim {

const std::vector<PlatformKey>& platform_keys() {
#define NUMBER(member, key, unit, least, most, fallback, source, text) \
    {key, unit, least, most, fallback, source, text, [](Platform& p) -> uint64_t& { return p.member; }, nullptr, ""},
#define NAME(member, key, section, fallback, source, text) \
    {key, "name", 0, 0, fallback, source, text, nullptr, [](Platform& p) -> Chosen& { return p.member; }, section},
#define NUMBER_OF_PART NUMBER
#define NAME_OF_PART NAME
    static const std::vector<PlatformKey> keys = {
#include "base/platform_keys.def"
    };
#undef NUMBER
#undef NAME
#undef NUMBER_OF_PART
#undef NAME_OF_PART
    return keys;
}

std::string keys_under(const Platform& platform, std::string_view begin) {
    Platform values = platform;  // the table gives fields that can be changed
    std::string text;
    for (const PlatformKey& row : platform_keys()) {
        if (!std::string_view(row.key).starts_with(begin)) continue;
        if (row.word == nullptr) {
            text += std::to_string(row.field(values)) + "\n";
            continue;
        }
        text += row.word(values).name;
        for (const auto& [key, value] : row.word(values).own) text += " " + key + "=" + std::to_string(value);
        text += "\n";
    }
    return text;
}

}  // namespace tessera::sim
