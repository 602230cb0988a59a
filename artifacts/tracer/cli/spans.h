// spans.h - chooses the address ranges of an imported trace that become pools.
//
// Layouts apply to pools, and an imported trace has none. Used pages form spans: a gap of more than 1GB starts a
// new span (stack, libraries and heap are further apart than that). The span with the most pages becomes the mmap
// pool, the next lower span the brk pool; both start at a multiple of 1GB. Other addresses are outside all pools,
// so they have 4KB pages under every layout.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tessera/trace/pools.h"

namespace tessera::trace::cli {

constexpr uint64_t one_gigabyte = uint64_t{1} << 30;

struct Span {
    uint64_t begin, end;  ///< bytes, end exclusive
    uint64_t pages;

    bool operator==(const Span&) const = default;
};

std::vector<Span> spans_of_pages(const std::set<uint64_t>& page_numbers);

/// A pool over [begin, end), its base aligned down and its size up to 1GB.
Pool pool_over(PoolKind kind, uint64_t begin, uint64_t end);

std::vector<Pool> default_pools(const std::vector<Span>& spans);

}  // namespace tessera::trace::cli
