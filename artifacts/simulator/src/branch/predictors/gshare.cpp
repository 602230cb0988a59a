// gshare.cpp - two-bit counters, chosen by pc and global history (McFarling, WRL Technical Note TN-36, 1993).
//
// index = (pc ^ (pc >> log2_entries)) xor history, where the history is shifted to the index's upper end if it has fewer bits.
// The youngest outcome is the history's lowest bit; conditional branches alone are in it. A counter has the values 0 to 3 and
// starts at 1; from 2 on it predicts taken. Its values are deterministic. Not modelled: history of wrong paths.
#include <vector>

#include "branch/predictor.h"

namespace tessera::sim {
namespace {

class Gshare final : public Predictor {
public:
    explicit Gshare(const OwnValues& own) : log_(own["log2_entries"]), bits_(own["history_bits"]), counters_(size_t{1} << log_, 1) {
        if (bits_ > log_)
            throw Refusal("branch predictor gshare with at most log2_entries bits of history",
                          "history_bits = " + std::to_string(bits_) + ", log2_entries = " + std::to_string(log_),
                          "set branch_predictor.gshare.history_bits to " + std::to_string(log_) + " or less");
    }

    bool conditional(uint64_t pc, bool taken) override {
        uint8_t& counter = counters_[((pc ^ (pc >> log_)) ^ (history_ << (log_ - bits_))) & (counters_.size() - 1)];
        const bool predicted = counter >= 2;
        if (taken && counter < 3) ++counter;
        if (!taken && counter > 0) --counter;
        history_ = ((history_ << 1) | uint64_t{taken}) & ((uint64_t{1} << bits_) - 1);
        return predicted;
    }

    void unconditional(uint64_t, uint64_t) override {}

private:
    uint64_t log_, bits_, history_ = 0;
    std::vector<uint8_t> counters_;
};

const Registered row(predictors(), "gshare", "two-bit counters by pc xor global history",
                     {{"log2_entries", "log2(counters)", 1, 24, 14, "assumed: 16384 counters, 4KB", "Counters, as a power of two"},
                      {"history_bits", "branches", 0, 24, 12, "assumed: two bits fewer than the index",
                       "Conditional branches in the global history"}},
                     [](const OwnValues& own) { return std::make_unique<Gshare>(own); });

}  // namespace
}  // namespace tessera::sim
