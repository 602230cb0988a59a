// lru.cpp - true least recently used: the victim is the way whose last hit or fill is longest ago.
#include <algorithm>
#include <vector>

#include "tlb/replacement.h"

namespace tessera::sim {
namespace {

class Lru final : public Replacement {
public:
    Lru(size_t sets, size_t ways) : ways_(ways), used_(sets * ways, 0) {}
    void hit(size_t set, size_t way) override { used_[set * ways_ + way] = ++now_; }
    void fill(size_t set, size_t way) override { used_[set * ways_ + way] = ++now_; }
    size_t victim(size_t set) override {
        const auto first = used_.begin() + static_cast<std::ptrdiff_t>(set * ways_);
        return size_t(std::min_element(first, first + static_cast<std::ptrdiff_t>(ways_)) - first);
    }

private:
    size_t ways_;
    uint64_t now_ = 0;
    std::vector<uint64_t> used_;  ///< [set][way]: when
};

const Registered row(replacements(), "lru", "true least recently used",
                     [](size_t sets, size_t ways) { return std::make_unique<Lru>(sets, ways); });

}  // namespace
}  // namespace tessera::sim
