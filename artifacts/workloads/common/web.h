// web.h - a synthetic web crawl as a function: link k is computed from (seed, k) alone.
//
// Stands in for sk-2005 (GAPBS's `web`: 50.6 M pages, 38.5 links a page), whose numbering by URL puts most links
// close to their page. Pages are numbered host by host; a region of 16384 pages is cut into hosts of 64 to
// 8192 pages. A link leaves a page of its region and
//   - stays in the host (13 of 16): the page linked to is drawn with the power law x^4, so the first pages of a
//     host (home, index) are linked by most of the others, as copying models make it;
//   - goes to a host of the neighbourhood, 1 to 64 regions away, nearer ones more often (2 of 16);
//   - goes to the home pages of a popular host (1 of 16), popularity by the same power law.
// Pages that link are drawn with x^3, which is the skew of the out-degrees.
// Each region ends in an archive: 32 pages of which each links to its neighbours and to nothing else and which only
// the first of its hosts links to, like numbered lists of old pages; they give the graph the long diameter
// that random links alone don't have.
// Not modelled: real host names, the crawl's frontier, compression-driven orderings.
#pragma once

#include <cstdint>

#include "common/kronecker.h"
#include "common/rng.h"

namespace tessera::workloads {

class WebEdges {
public:
    static constexpr unsigned kRegionBits = 14;
    static constexpr uint64_t kArchivePages = 32;

    /// `edges` links, rounded down to a multiple of the number of regions.
    WebEdges(unsigned scale, uint64_t edges, uint64_t seed)
        : scale_(scale),
          region_bits_(scale < kRegionBits ? scale : kRegionBits),
          edges_per_region_(edges >> (scale - region_bits_)),
          seed_(seed) {}

    uint64_t vertices() const { return uint64_t{1} << scale_; }
    uint64_t count() const { return edges_per_region_ << (scale_ - region_bits_); }

    Edge operator()(uint64_t k) const {
        const uint64_t region = k / edges_per_region_, slot = k - region * edges_per_region_;
        const uint64_t start = region << region_bits_;
        if (slot < 2 * kArchivePages) return archive(start, slot);

        const uint64_t bits = mix64(seed_, k), more = mix64(~seed_, k);
        const Host host = host_of(region, static_cast<uint32_t>(bits));
        const uint64_t from = start + host.first + skewed(static_cast<uint32_t>(bits >> 32), host.pages, 3);
        const auto coin = static_cast<unsigned>(more & 15);
        const auto draw = static_cast<uint32_t>(more >> 32);
        if (coin < 13) return link(from, start + host.first + skewed(draw, host.pages, 4));
        const uint64_t third = mix64(seed_ + 2, k);
        const auto place = static_cast<uint32_t>(third >> 32), which = static_cast<uint32_t>(third);
        const uint64_t regions = uint64_t{1} << (scale_ - region_bits_);
        uint64_t target = region;
        if (coin < 15) {
            const uint64_t far = 1 + skewed(place, regions < 64 ? regions : 64, 3);
            target = (draw & 1 ? region + far : region + regions * 64 - far) & (regions - 1);
        } else {
            target = scramble_region(skewed(place, regions, 4));
        }
        const Host other = host_of(target, coin < 15 ? which : 0);
        return link(from, (target << region_bits_) + other.first + skewed(draw, other.pages, 4));
    }

private:
    struct Host {
        uint64_t first, pages;  ///< within its region, without the archive
    };

    static Edge link(uint64_t from, uint64_t to) { return {static_cast<int64_t>(from), static_cast<int64_t>(to)}; }

    /// floor(n * u^power) for u = draw / 2^32: small results are likely, density x^(1/power - 1).
    static uint64_t skewed(uint32_t draw, uint64_t n, unsigned power) {
        uint64_t u = draw;
        if (power == 4) {
            u = u * u >> 32;
            u = u * u >> 32;
        } else {
            u = (u * u >> 32) * u >> 32;
        }
        return n * u >> 32;
    }

    /// The host of the page at draw / 2^32 of the region. Hosts of a region have the same size, a power of two.
    Host host_of(uint64_t region, uint32_t draw) const {
        const uint64_t hash = mix64(seed_ + 1, region);
        const unsigned most = region_bits_ - 1, least = most < 6 ? most : 6;
        unsigned bits = most;  // half as many regions as of the next larger size: as many hosts of each size
        for (uint64_t coins = hash; bits > least && (coins & 1); coins >>= 1) --bits;
        const uint64_t pages = uint64_t{1} << bits;
        const uint64_t index = uint64_t{draw} >> (32 - (region_bits_ - bits));
        const bool last = index == (uint64_t{1} << (region_bits_ - bits)) - 1;
        const uint64_t archive = last && pages > kArchivePages ? kArchivePages : 0;
        return {index << bits, pages - archive};
    }

    /// Links of the last pages of a region: each to the one before and the one after it.
    Edge archive(uint64_t start, uint64_t slot) const {
        const uint64_t size = uint64_t{1} << region_bits_;
        if (size < 4 * kArchivePages) return link(start, start);  // too small a graph: a self loop, dropped
        const uint64_t page = slot >> 1, at = start + size - kArchivePages + page;
        if (slot & 1) return link(at, page == 0 ? start : at - 1);
        return link(page == 0 ? start : at - 1, at);
    }

    uint64_t scramble_region(uint64_t rank) const {
        const unsigned bits = scale_ - region_bits_;
        return bits < 2 ? rank : scramble(rank, bits, seed_);
    }

    unsigned scale_, region_bits_;
    uint64_t edges_per_region_;
    uint64_t seed_;
};

}  // namespace tessera::workloads
