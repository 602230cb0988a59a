// lru.h - true least recently used: the victim is the way whose last hit or fill is longest ago. A way that was never used comes first.
#pragma once

#include <vector>

#include "replacement/replacement.h"

namespace tessera::sim {

class Lru final : public Replacement {
public:
    Lru(size_t sets, size_t ways) : ways_(ways), used_(sets * ways, 0) {}
    void hit(size_t set, size_t way) override { used_[set * ways_ + way] = ++now_; }
    void fill(size_t set, size_t way) override { hit(set, way); }
    size_t victim(size_t set) override {
        const uint64_t* const of_set = &used_[set * ways_];
        size_t oldest = 0;
        uint64_t when = of_set[0];
        for (size_t way = 1; way < ways_; ++way) {  // two selects: branches on ages would be mispredicted
            const bool older = of_set[way] < when;
            oldest = older ? way : oldest;
            when = older ? of_set[way] : when;
        }
        return oldest;
    }
    /// The way counts as never used.
    void forget(size_t set, size_t way) { used_[set * ways_ + way] = 0; }

private:
    size_t ways_;
    uint64_t now_ = 0;
    std::vector<uint64_t> used_;  ///< [set][way]: when; 0: never
};

}  // namespace tessera::sim
