// streams.h - the three streams that floors and engines are measured on, made here from fixed seeds.
//
//   gups      uniform random reads over 1GB
//   zipf      log-uniform pages over 1GB (page p with probability ~1/p), random line in the page
//   resident  uniform random reads over 16KB
#pragma once

#include <cmath>
#include <string>

#include "support/synthetic.h"

namespace tessera::sim::benchmark {

inline constexpr uint64_t pool_bytes = uint64_t{1} << 30;

inline uint64_t scramble(uint64_t x) {  // a bijection on 18-bit page numbers, so that popular pages are scattered
    return (x * 2654435761u + 12345) & ((1 << 18) - 1);
}

inline MemoryStream make_stream(const std::string& name, size_t accesses) {
    using namespace testing;
    using trace::InsnKind;
    StreamBuilder builder(pool_bytes, pool_bytes, 1 << 16);
    // A random number generator's shifts, the load, an accumulation, the loop's branch.
    const uint32_t block = builder.block(
        {insn(InsnKind::alu, reg(1), reg(1) | reg(16)), insn(InsnKind::alu, reg(1), reg(1) | reg(16)), insn(InsnKind::alu, reg(1) | reg(5), reg(2)),
         insn(InsnKind::load, reg(2) | reg(3), reg(4), reg(2) | reg(3), 1), insn(InsnKind::alu, reg(4) | reg(6), reg(6) | reg(16)),
         insn(InsnKind::branch, reg(16), 0)},
        {{3, 0, 8}});
    std::mt19937_64 random(42);
    const double log_pages = std::log(double(pool_bytes >> 12));
    for (size_t i = 0; i < accesses; ++i) {
        const uint64_t r = random();
        uint64_t offset = r % pool_bytes & ~uint64_t{7};
        if (name == "resident") offset = r % 16384 & ~uint64_t{7};
        if (name == "zipf") {
            const uint64_t page = uint64_t(std::exp(double(r >> 11) * 0x1p-53 * log_pages)) - 1;
            offset = scramble(page) << 12 | (random() & 4088);
        }
        builder.load(block, heap_base + offset);
    }
    return builder.finish();
}

/// Sixteen mosaics: windows of growing length, half of them slid.
inline std::vector<Layout> make_layouts() {
    std::vector<Layout> layouts;
    for (uint64_t i = 0; i < 16; ++i) {
        const uint64_t length = pool_bytes / 15 * i / (2 * mib) * (2 * mib);
        const uint64_t begin = i % 2 ? (pool_bytes - length) / 2 / (2 * mib) * (2 * mib) : 0;
        Layout layout{"growing-" + std::to_string(i), {}};
        if (length > 0) layout.windows.push_back(testing::window(trace::PoolKind::heap, PageSize::large_2mb, begin, begin + length));
        layouts.push_back(layout);
    }
    return layouts;
}

}  // namespace tessera::sim::benchmark
