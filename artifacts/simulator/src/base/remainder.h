// remainder.h - number mod divisor for a divisor that stays: a mask or a multiplication, as a division takes ten times as long.
#pragma once

#include <cstdint>

namespace tessera::sim {

/// Exact for any number, since the quotient by the rounded-up reciprocal is at most one too large.
class Remainder {
public:
    /// divisor 0: never asked.
    explicit Remainder(uint64_t divisor)
        : divisor_(divisor), reciprocal_((divisor & (divisor - 1)) == 0 ? 0 : ~uint64_t{0} / divisor + 1) {}

    uint64_t operator()(uint64_t number) const {
        if (reciprocal_ == 0) return number & (divisor_ - 1);
        const uint64_t quotient = uint64_t((static_cast<unsigned __int128>(number) * reciprocal_) >> 64);
        const uint64_t rest = number - quotient * divisor_;
        return rest < divisor_ ? rest : rest + divisor_;
    }

private:
    uint64_t divisor_, reciprocal_;
};

}  // namespace tessera::sim
