// The constants are computed from their definition (fractional parts of the roots of the first primes),
// which is shorter to check than 72 literals; the tests pin the published vectors.
#include "sha256.h"

#include <array>
#include <bit>
#include <cstdint>

namespace tessera::trace {
namespace {

using Wide = unsigned __int128;

/// Largest r with r^power <= value (power 2 or 3, r below 2^40).
constexpr uint64_t integer_root(Wide value, int power) {
    uint64_t low = 0, high = uint64_t{1} << 40;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        const Wide raised = power == 2 ? Wide{middle} * middle : Wide{middle} * middle * middle;
        (raised <= value ? low : high) = middle;
    }
    return low;
}

constexpr std::array<uint32_t, 64> first_primes() {
    std::array<uint32_t, 64> primes{};
    size_t count = 0;
    for (uint32_t candidate = 2; count < primes.size(); ++candidate) {
        bool prime = true;
        for (size_t i = 0; i < count; ++i) prime = prime && candidate % primes[i] != 0;
        if (prime) primes[count++] = candidate;
    }
    return primes;
}

constexpr std::array<uint32_t, 64> root_fractions(int power) {
    std::array<uint32_t, 64> out{};
    const auto primes = first_primes();
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint32_t>(integer_root(Wide{primes[i]} << (32 * power), power));
    return out;
}

constexpr auto round_constants = root_fractions(3);
constexpr auto initial_state = root_fractions(2);

void compress(std::array<uint32_t, 8>& state, const unsigned char* chunk) {
    using std::rotr;
    std::array<uint32_t, 64> w{};
    for (int i = 0; i < 16; ++i)
        w[i] = uint32_t{chunk[4 * i]} << 24 | uint32_t{chunk[4 * i + 1]} << 16 | uint32_t{chunk[4 * i + 2]} << 8 | chunk[4 * i + 3];
    for (int i = 16; i < 64; ++i) {
        const uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (int i = 0; i < 64; ++i) {
        const uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<uint32_t, 8> added{a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] += added[i];
}

}  // namespace

std::string sha256_hex(std::string_view message) {
    std::string padded(message);
    padded.push_back('\x80');
    while (padded.size() % 64 != 56) padded.push_back('\0');
    const uint64_t bits = uint64_t{message.size()} * 8;
    for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<char>(bits >> shift));

    std::array<uint32_t, 8> state{};
    for (int i = 0; i < 8; ++i) state[i] = initial_state[i];
    for (size_t at = 0; at < padded.size(); at += 64) compress(state, reinterpret_cast<const unsigned char*>(padded.data()) + at);

    std::string hex;
    for (const uint32_t word : state)
        for (int shift = 28; shift >= 0; shift -= 4) hex.push_back("0123456789abcdef"[word >> shift & 15]);
    return hex;
}

}  // namespace tessera::trace
