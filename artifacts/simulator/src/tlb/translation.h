// translation.h - the three outcomes of a data access's translation (MICRO'20 Table 2: H counts stlb_hit, M counts miss).
#pragma once

#include <cstdint>

namespace tessera::sim {

enum class Translation : uint8_t { l1_hit, stlb_hit, miss };

}  // namespace tessera::sim
