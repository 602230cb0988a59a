// srrip.h - static re-reference interval prediction with 2-bit values and hit priority (Jaleel et al., ISCA 2010), in all
// lanes at once: the two bits of a way's value are two words, bit l for lane l.
//
// A fill sets 2, a hit 0. The victim is the lowest-numbered way with 3; while a lane has none, all its ways are incremented.
#pragma once

#include "engine/lanes/inline.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class Srrip {
public:
    static unsigned words(unsigned ways) { return 2 * ways; }

    Srrip(uint64_t* words, unsigned ways) : low_(words), high_(words + ways), ways_(ways) {}

    void hit(unsigned way, uint64_t lanes) {
        low_[way] &= ~lanes;
        high_[way] &= ~lanes;
    }
    void filled(unsigned way, uint64_t lanes) {
        low_[way] &= ~lanes;
        high_[way] |= lanes;
    }

    /// Calls fill(way, lanes) for each way that is a victim in some of `lanes`. pre: all ways of these lanes are valid.
    template <class Fill>
    void evict(uint64_t lanes, const Fill& fill) {
        while (true) {
            for (unsigned way = 0; way < ways_ && lanes != 0; ++way) {
                const uint64_t distant = lanes & low_[way] & high_[way];
                if (distant == 0) continue;
                fill(way, distant);
                lanes &= ~distant;
            }
            if (lanes == 0) return;
            for (unsigned way = 0; way < ways_; ++way) {  // none of these is 3
                high_[way] ^= low_[way] & lanes;
                low_[way] ^= lanes;
            }
        }
    }

private:
    uint64_t *low_, *high_;
    unsigned ways_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
