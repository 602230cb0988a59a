// spans.h - which address ranges of an imported trace become pools.
//
// Layouts act on pools, and a foreign trace has none. Used pages group into spans, a gap of more than 1GB
// (stack, libraries and heap lie further apart than that) starts a new one. The span with most pages becomes the
// mmap pool, the next lower span the brk pool; both start at a multiple of 1GB. Addresses elsewhere
// are outside all pools, so they keep 4KB pages under every layout.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tessera/trace/trace.h"

namespace tessera::trace::cli {

constexpr uint64_t one_gigabyte = uint64_t{1} << 30;

/// Programs of x86-64 have addresses below this, and so have pools: the simulator refuses others.
constexpr uint64_t address_limit = uint64_t{1} << 48;

struct Span {
    uint64_t begin, end;  ///< bytes, end exclusive
    uint64_t pages;
};

std::vector<Span> spans_of_pages(const std::set<uint64_t>& page_numbers);

/// A pool over [begin, end), its base aligned down and its size up to 1GB.
Pool pool_over(PoolKind kind, uint64_t begin, uint64_t end);

std::vector<Pool> default_pools(const std::vector<Span>& spans);

}  // namespace tessera::trace::cli
