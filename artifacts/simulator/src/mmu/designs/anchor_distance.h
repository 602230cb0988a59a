// anchor_distance.h - the anchor distance that the operating system chooses from a histogram of chunks (Park, Algorithm 1).
//
// For a distance d, a chunk of c pages needs a = floor(c / d) anchors. The rest r = c mod d needs l = floor(r / 512) entries of
// 2MB pages and p = r mod 512 entries of 4KB pages. The alignment of chunks is ignored. The listing leaves the rest undefined;
// this is the one that the text of 3.4 gives. The cost of d, summed over all chunks, has two readings:
//   count:   a + l + p, the number of TLB entries. The distances of Table 3.6 agree with it, so it is the default (assumed).
//   printed: a/d + l/512 + p, the weights of the listing.
// Equal costs: the smaller distance (assumed). Not modelled: a distance for each region, a new choice while the program runs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "os/mapped_pages.h"

namespace tessera::sim {

inline constexpr uint64_t least_anchor_distance = 2, most_anchor_distance = 65536;  // powers of two in pages of 4KB

enum class AnchorCost : uint8_t { count, printed };

using ChunkHistogram = std::map<uint64_t, uint64_t>;  ///< pages of a chunk -> number of such chunks

inline ChunkHistogram histogram_of(const std::vector<PageChunk>& chunks) {
    ChunkHistogram histogram;
    for (const PageChunk& chunk : chunks) ++histogram[chunk.pages];
    return histogram;
}

/// The cost of one distance, times 65536, which makes it a whole number. It is below 2^54, as pools have less than 2^36 pages.
inline uint64_t anchor_cost(const ChunkHistogram& histogram, uint64_t distance, AnchorCost reading) {
    constexpr uint64_t one = 65536, pages_of_2mb = 512;
    const uint64_t of_anchor = reading == AnchorCost::count ? one : one / distance;
    const uint64_t of_2mb = reading == AnchorCost::count ? one : one / pages_of_2mb;
    uint64_t cost = 0;
    for (const auto& [pages, chunks] : histogram) {
        const uint64_t rest = pages % distance;
        cost += chunks * (pages / distance * of_anchor + rest / pages_of_2mb * of_2mb + rest % pages_of_2mb * one);
    }
    return cost;
}

/// The distance with the least cost.
inline uint64_t anchor_distance(const ChunkHistogram& histogram, AnchorCost reading) {
    uint64_t best = least_anchor_distance, least = anchor_cost(histogram, best, reading);
    for (uint64_t distance = 2 * best; distance <= most_anchor_distance; distance *= 2) {
        const uint64_t cost = anchor_cost(histogram, distance, reading);
        if (cost < least) best = distance, least = cost;
    }
    return best;
}

}  // namespace tessera::sim
