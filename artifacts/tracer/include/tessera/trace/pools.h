// pools.h - the rule that pools of a trace keep, and arithmetic on their pages that cannot overflow.
//
// Reader and Writer check the rule, so a program that uses an opened trace may rely on it. Readers in other languages have the same rule;
// tests/headers.txt is their table of examples.
#pragma once

#include <string>
#include <vector>

#include "tessera/trace/trace.h"

namespace tessera::trace {

/// Addresses of x86-64 programs with page tables of four levels lie below; the simulator rejects others.
constexpr uint64_t address_limit = uint64_t{1} << 48;

/// 4KB pages that `bytes` need, of any 64-bit number.
constexpr uint64_t pages_in(uint64_t bytes) { return bytes / 4096 + (bytes % 4096 != 0); }

/// Which part of the rule is broken, empty if none: a pool begins at a 4KB page and ends at or below 2^48; it has at most its
/// size in use, and no more touched pages than it has; at most one pool is of a kind; pools do not overlap; all of them together
/// have at most the touched pages of the trace.
std::string wrong_pools(const std::vector<Pool>& pools, uint64_t distinct_4kb_pages);

/// The pool that has an address, or null.
inline const Pool* pool_at(const std::vector<Pool>& pools, uint64_t address) {
    for (const Pool& pool : pools)
        if (address - pool.base < pool.size_bytes) return &pool;
    return nullptr;
}
inline bool is_in_a_pool(const std::vector<Pool>& pools, uint64_t address) { return pool_at(pools, address) != nullptr; }

}  // namespace tessera::trace
