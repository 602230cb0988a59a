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

}  // namespace tessera::sim
