// address_limit.h - rejects addresses of more than 48 bits, the limit of x86-64 programs, which the models need.
#pragma once

#include <cstdio>
#include <vector>

#include "base/error.h"
#include "pagetable/layout_constants.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

/// Throws Refusal at 2^48 and above.
inline void check_address(uint64_t address) {
    if (address < address_limit) return;
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    throw Refusal("addresses of the trace below 2^48", text, "record a program with 48-bit addresses; the simulator does not model wider address spaces");
}

/// Throws Refusal for a pool that ends above 2^48: tables of its 2MB regions would exhaust memory.
inline void check_pools(const std::vector<trace::Pool>& pools) {
    for (const trace::Pool& pool : pools) {
        if (pool.base <= address_limit && pool.size_bytes <= address_limit - pool.base) continue;
        char text[96];
        std::snprintf(text, sizeof text, "pool %s from 0x%llx to 0x%llx", pool.kind == trace::PoolKind::heap ? "brk" : "mmap",
                      static_cast<unsigned long long>(pool.base), static_cast<unsigned long long>(pool.base + pool.size_bytes));
        throw Refusal("pools of the trace below 2^48", text, "record or import the trace with the pools that the program used");
    }
}

}  // namespace tessera::sim
