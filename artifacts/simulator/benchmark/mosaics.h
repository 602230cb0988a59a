// mosaics.h - the 54 layouts of MICRO'20 section VI-B for one pool, written by rule: 9 growing, 9 random, 4 x 9 sliding.
//
// Growing: 2MB pages from the pool's begin, 0/8 to 8/8 of it. Random: 1 to 4 windows of random place and length. Sliding: a
// window over the pool's hottest part (its begin, here; as long as 20, 40, 60 or 80 percent of the pool) that moves up in
// eighths of its length and is cut off at the pool's end. Beyond 54: more random ones.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/synthetic.h"

namespace tessera::sim::benchmark {

class Mosaics {
public:
    explicit Mosaics(uint64_t pool_bytes) : regions_(pool_bytes >> 21), random_(54) {}

    std::vector<Layout> make(size_t count) {
        std::vector<Layout> layouts;
        for (uint64_t step = 0; step < 9; ++step) layouts.push_back(named("growing", step, {{0, regions_ * step / 8}}));
        for (uint64_t i = 0; i < 9; ++i) layouts.push_back(random(i));
        for (const uint64_t percent : {20, 40, 60, 80})
            for (uint64_t step = 0; step < 9; ++step) {
                const uint64_t length = regions_ * percent / 100, begin = length * step / 8;
                layouts.push_back(named("sliding-" + std::to_string(percent), step, {{begin, begin + length}}));
            }
        for (uint64_t i = 9; layouts.size() < count; ++i) layouts.push_back(random(i));
        layouts.resize(count);
        return layouts;
    }

private:
    using Windows = std::vector<std::pair<uint64_t, uint64_t>>;  // begin and end, in 2MB

    Layout random(uint64_t i) {
        std::vector<uint64_t> edges(2 * (1 + random_() % 4));
        for (uint64_t& edge : edges) edge = random_() % (regions_ + 1);
        std::sort(edges.begin(), edges.end());
        Windows windows;
        for (size_t k = 0; k < edges.size(); k += 2) windows.push_back({edges[k], edges[k + 1]});
        return named("random", i, windows);
    }

    Layout named(const std::string& kind, uint64_t number, const Windows& windows) const {
        Layout layout{kind + "-" + std::to_string(number), {}};
        for (auto [begin, end] : windows) {
            end = std::min(end, regions_);
            if (begin < end) layout.windows.push_back(testing::window(trace::PoolKind::heap, PageSize::large_2mb, begin << 21, end << 21));
        }
        return layout;
    }

    uint64_t regions_;
    std::mt19937_64 random_;
};

}  // namespace tessera::sim::benchmark
