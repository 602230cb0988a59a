// folded_history.h - what TAGE keeps of the branches before: the last `longest` outcomes, and foldings of them by table.
//
// A folding of a history of `length` outcomes to `width` bits is the xor of its pieces of `width` bits: the outcome of age k
// (0 is the youngest) is in bit k mod width. It is kept by rotation: the youngest outcome comes in, the one that is now too
// old goes out (Michaud, Seznec, JILP 2006). All tables have one width, so all foldings take one step as one vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::sim {

inline constexpr size_t max_tables = 16;

/// A 16-bit number for each table.
using PerTable = uint16_t __attribute__((vector_size(2 * max_tables)));

/// `rows`: all ones in the tables whose bit is set, else 0: the product moves bit t to the sign of row t.
inline void all_or_none(uint16_t bits, PerTable& rows) {
    using Signed = int16_t __attribute__((vector_size(2 * max_tables)));
    PerTable to_sign = {};
    for (size_t t = 0; t < max_tables; ++t) to_sign[t] = uint16_t(1u << (max_tables - 1 - t));
    rows = PerTable(Signed(to_sign * bits) >> int16_t{15});
}

inline uint16_t low_bits(uint64_t count) { return uint16_t((uint32_t{1} << count) - 1); }

/// The last outcomes; a ring with a byte for each.
class OutcomeRing {
public:
    explicit OutcomeRing(uint64_t longest) : bits_(64) {
        while (bits_.size() < longest) bits_.resize(bits_.size() * 2);
        mask_ = uint32_t(bits_.size() - 1);
    }
    void push(bool taken) { bits_[++now_ & mask_] = taken; }
    /// The outcome of `age` branches before the youngest.
    uint32_t at(uint32_t age) const { return bits_[(now_ - age) & mask_]; }

private:
    std::vector<uint8_t> bits_;
    uint32_t now_ = 0, mask_ = 0;
};

/// One width of 1 to 16 bits, and a folding for each table.
class FoldedHistories {
public:
    FoldedHistories(uint64_t width, const std::vector<uint32_t>& lengths) : down_(uint16_t(width - 1)), mask_(low_bits(width)) {
        for (size_t t = 0; t < lengths.size(); ++t) leaves_[t] = uint16_t(1u << (lengths[t] % width));
    }
    /// `leaving`: all ones for a table whose history loses an outcome `taken`, else 0.
    void push(bool taken, const PerTable& leaving) {
        const uint16_t in = taken;
        values_ = ((((values_ << uint16_t{1}) | (values_ >> down_)) & mask_) ^ (leaving & leaves_)) ^ in;
    }
    const PerTable& values() const { return values_; }

private:
    uint16_t down_, mask_;
    PerTable values_ = {}, leaves_ = {};
};

}  // namespace tessera::sim
