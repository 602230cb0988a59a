// srrip.cpp - static re-reference interval prediction with 2 bits and hit priority (Jaleel et al., ISCA 2010, section 4.1).
//
// Each way predicts when it is used again, 0 (soon) to 3 (distant). A fill predicts 2, a hit 0. The victim is the
// lowest-index way that predicts 3; while there is none, all ways of the set grow by one.
#include <vector>

#include "replacement/replacement.h"

namespace tessera::sim {
namespace {

class Srrip final : public Replacement {
public:
    Srrip(size_t sets, size_t ways) : ways_(ways), interval_(sets * ways, distant) {}
    void hit(size_t set, size_t way) override { interval_[set * ways_ + way] = 0; }
    void fill(size_t set, size_t way) override { interval_[set * ways_ + way] = distant - 1; }
    size_t victim(size_t set) override {
        uint8_t* const of_set = interval_.data() + set * ways_;
        for (;;) {
            for (size_t way = 0; way < ways_; ++way)
                if (of_set[way] == distant) return way;
            for (size_t way = 0; way < ways_; ++way) ++of_set[way];
        }
    }

private:
    static constexpr uint8_t distant = 3;
    size_t ways_;
    std::vector<uint8_t> interval_;  ///< [set][way]
};

const Registered row(replacements(), "srrip", "2-bit re-reference interval prediction with hit priority (ISCA 2010)",
                     [](size_t sets, size_t ways, const Platform&) { return std::make_unique<Srrip>(sets, ways); });

}  // namespace
}  // namespace tessera::sim
