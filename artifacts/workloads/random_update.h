// random_update.h - gups in its original form: updates of a table at random places, and its oracle.
//
// RandomAccess of the HPC Challenge suite (Koester and Lucas; HPCC 1.5): a number a is at once address and
// value, table[a mod elements] ^= a. The numbers are successive powers of x modulo x^64 + x^2 + x + 1 over
// GF(2): one shift and one conditional xor a step. Element i holds i at first. Exclusive or commutes and
// undoes itself, so the oracle applies every update once more, in another order, and finds i in element i.
// HPCC tolerates 1% of wrong elements because its threads race; one thread has no race, so none is allowed.
#pragma once

#include <cstdint>

#include "common/measure.h"
#include "common/rng.h"

namespace tessera::workloads {

class UpdateStream {
public:
    static constexpr uint64_t kPolynomial = 7;  ///< x^2 + x + 1, what x^64 leaves
    static constexpr uint64_t kPeriod = 1317624576693539401u;  ///< of the powers of x (HPCC)

    /// Starts at x^position.
    explicit UpdateStream(uint64_t position) : state_(power(position)) {}

    uint64_t next() {
        state_ = times_x(state_);
        return state_;
    }

    /// x^exponent, by squaring.
    static uint64_t power(uint64_t exponent) {
        uint64_t result = 1;
        for (uint64_t square = 2; exponent != 0; exponent >>= 1, square = product(square, square))
            if (exponent & 1) result = product(result, square);
        return result;
    }

    /// Product of two polynomials, reduced.
    static uint64_t product(uint64_t a, uint64_t b) {
        uint64_t sum = 0;
        for (; b != 0; b >>= 1, a = times_x(a))
            if (b & 1) sum ^= a;
        return sum;
    }

private:
    static uint64_t times_x(uint64_t a) { return (a << 1) ^ (a >> 63 ? kPolynomial : 0); }

    uint64_t state_;
};

/// Where the stream of a seed starts.
inline uint64_t stream_position(uint64_t seed) { return below(mix64(0, seed), UpdateStream::kPeriod); }

/// `elements` is a power of two.
TESSERA_KERNEL inline void update_at_random(uint64_t* table, uint64_t elements, uint64_t updates, uint64_t position) {
    UpdateStream numbers(position);
    const uint64_t mask = elements - 1;
    for (uint64_t k = 0; k < updates; ++k) {
        const uint64_t number = numbers.next();
        table[number & mask] ^= number;
    }
}

/// Undoes update_at_random in blocks from the last to the first, each start computed as a power of x, and
/// returns how many elements are not what they were at first.
inline uint64_t wrong_after_undoing(uint64_t* table, uint64_t elements, uint64_t updates, uint64_t position) {
    constexpr uint64_t kBlock = 1 << 20;
    for (uint64_t block = (updates + kBlock - 1) / kBlock; block-- > 0;) {
        const uint64_t first = block * kBlock;
        UpdateStream numbers(position + first);
        for (uint64_t k = first; k < updates && k < first + kBlock; ++k) {
            const uint64_t number = numbers.next();
            table[number % elements] ^= number;
        }
    }
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < elements; ++i) wrong += table[i] != i;
    return wrong;
}

}  // namespace tessera::workloads
