#include "digest.h"

#include <bit>
#include <cstring>

namespace tessera::trace {
namespace {

constexpr uint64_t multiplier = 0x9e3779b97f4a7c15;  // odd, so multiplying is a bijection

uint64_t step(uint64_t lane, uint64_t word) { return std::rotl((lane ^ word) * multiplier, 29); }

}  // namespace

void Digester::add(const void* data, size_t size) {
    auto lanes = lanes_;
    const auto* bytes = static_cast<const char*>(data);
    size_t at = 0;
    for (; at + 32 <= size; at += 32) {
        uint64_t words[4];
        std::memcpy(words, bytes + at, 32);
        for (int i = 0; i < 4; ++i) lanes[i] = step(lanes[i], words[i]);
    }
    uint64_t rest[4] = {};
    if (at < size) std::memcpy(rest, bytes + at, size - at);
    for (int i = 0; i < 4; ++i) lanes[i] = step(lanes[i], rest[i]);
    for (int i = 0; i < 4; ++i) lanes[i] = step(lanes[i], size);
    lanes_ = lanes;
}

Digest Digester::finish() const {
    Digest out = lanes_;
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 4; ++i) {
            out[i] ^= out[i] >> 32;
            out[i] *= multiplier;
            out[(i + 1) % 4] += out[i];
        }
    return out;
}

Digest digest(const void* data, size_t size) {
    Digester digester;
    digester.add(data, size);
    return digester.finish();
}

}  // namespace tessera::trace
