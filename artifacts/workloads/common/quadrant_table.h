// quadrant_table.h - four levels of the Kronecker recursion in one table lookup.
//
// Four quadrant choices have 256 outcomes with known probabilities. Walker's alias method (ACM TOMS 3(3),
// 1977; built as Vose, IEEE TSE 17(9), 1991) draws one with 32 random bits: 8 choose a column, 24 decide
// between the column's own outcome and its alias. Three times fewer instructions than level by level,
// which is what generating a graph under an emulator costs.
// Encoding of an outcome: high nibble = 4 bits of `from`, low nibble = 4 bits of `to`, first level highest.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tessera::workloads {

class QuadrantTable {
public:
    static constexpr unsigned kLevels = 4;
    static constexpr unsigned kOutcomes = 256;

    /// Probability of an outcome: the product over its levels.
    static double probability(unsigned outcome) {
        constexpr double kQuadrant[4] = {0.57, 0.19, 0.19, 0.05};  // A, B, C, D of the specification
        double product = 1;
        for (unsigned level = 0; level < kLevels; ++level) product *= kQuadrant[(outcome >> (4 + level) & 1) * 2 + (outcome >> level & 1)];
        return product;
    }

    QuadrantTable() {
        std::array<double, kOutcomes> share;  // of one column; 1 on average
        std::vector<unsigned> small, large;
        for (unsigned i = 0; i < kOutcomes; ++i) {
            share[i] = probability(i) * kOutcomes;
            (share[i] < 1 ? small : large).push_back(i);
        }
        while (!small.empty() && !large.empty()) {
            const unsigned poor = small.back(), rich = large.back();
            small.pop_back();
            set(poor, share[poor], rich);
            share[rich] -= 1 - share[poor];  // the rich outcome fills the rest of the poor one's column
            if (share[rich] < 1) {
                large.pop_back();
                small.push_back(rich);
            }
        }
        for (const auto& rest : {small, large})
            for (const unsigned i : rest) set(i, 1, i);  // full but for rounding
    }

    unsigned draw(uint32_t random) const {
        const Column& column = columns_[random >> 24];
        // A mask, not a branch: the coin cannot be predicted, and a wrong guess costs more than all of this.
        const uint32_t own = random >> 24, other = 0u - uint32_t{(random & 0xffffff) >= column.own_below};
        return own ^ ((own ^ column.alias) & other);
    }

private:
    struct Column {
        uint32_t own_below;  ///< 24-bit coin values below this keep the column's own outcome
        uint32_t alias;
    };

    void set(unsigned column, double share, unsigned alias) { columns_[column] = {static_cast<uint32_t>(share * (1 << 24)), alias}; }

    std::array<Column, kOutcomes> columns_;
};

}  // namespace tessera::workloads
