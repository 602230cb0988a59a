// address_limit.h - rejects addresses of more than 48 bits, the limit of x86-64 programs, which the models need. The reader of
// traces rejects pools that end above it.
#pragma once

#include <cstdio>

#include "base/error.h"
#include "os/physical_map.h"
#include "tessera/trace/pools.h"

namespace tessera::sim {

static_assert(address_limit == trace::address_limit);

/// Throws Refusal at 2^48 and above.
inline void check_address(uint64_t address) {
    if (address < address_limit) return;
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    throw Refusal("addresses of the trace below 2^48", text,
                  "record a program with 48-bit addresses; the simulator does not model wider address spaces");
}

}  // namespace tessera::sim
