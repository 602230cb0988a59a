// streams.h - the streams that floors and engines are measured on, made here from fixed seeds.
//
//   gups      uniform random reads over the pool
//   updates   gups as GUPS does it: each word is read, then written (two accesses an update)
//   zipf      log-uniform pages over the pool (page p with probability ~1/p), random line in the page
//   resident  uniform random reads over 16KB
//
// The loop's branch is taken, except in zipf behind a read of one of the eight most popular pages, a sixth of all: there the
// next read is in a copy of the loop's block, behind the first. This outcome cannot be predicted.
#pragma once

#include <cmath>
#include <string>

#include "support/synthetic.h"

namespace tessera::sim::benchmark {

inline constexpr uint64_t pool_bytes = uint64_t{1} << 30;

/// A bijection on page numbers of a power of two of pages, so that popular pages are scattered.
inline uint64_t scramble(uint64_t page, uint64_t pages) { return (page * 2654435761u + 12345) & (pages - 1); }

/// pool: bytes, a power of two of pages.
inline MemoryStream make_stream(const std::string& name, size_t accesses, uint64_t pool = pool_bytes) {
    using namespace testing;
    using trace::InsnKind;
    StreamBuilder builder(pool, pool, 1 << 16);
    // A random number generator's shifts, the load, an accumulation, the loop's branch.
    const std::vector<trace::StaticInsn> loop = {
        insn(InsnKind::alu, reg(1), reg(1) | reg(16)),          insn(InsnKind::alu, reg(1), reg(1) | reg(16)),
        insn(InsnKind::alu, reg(1) | reg(5), reg(2)),           insn(InsnKind::load, reg(2) | reg(3), reg(4), reg(2) | reg(3), 1),
        insn(InsnKind::alu, reg(4) | reg(6), reg(6) | reg(16)), insn(InsnKind::branch, reg(16), 0)};
    const uint32_t block = builder.loop_block(loop, {{3, 0, 8}}), copy = builder.loop_block(loop, {{3, 0, 8}});
    const uint32_t store = builder.block({insn(InsnKind::store, reg(2) | reg(3) | reg(4), 0, reg(2) | reg(3), 1)}, {{0, 1, 8}});
    std::mt19937_64 random(42);
    uint32_t next = block;
    const double log_pages = std::log(double(pool >> 12));
    for (size_t i = 0; i < accesses; ++i) {
        const uint64_t r = random();
        uint64_t offset = r % pool & ~uint64_t{7};
        bool popular = false;
        if (name == "resident") offset = r % 16384 & ~uint64_t{7};
        if (name == "zipf") {
            const uint64_t page = uint64_t(std::exp(double(r >> 11) * 0x1p-53 * log_pages)) - 1;
            popular = page < 8;
            offset = scramble(page, pool >> 12) << 12 | (random() & 4088);
        }
        builder.load(next, heap_base + offset);
        next = popular && next == block ? copy : block;
        if (name == "updates" && ++i < accesses) builder.run(store, {heap_base + offset}, {1});
    }
    return builder.finish();
}

}  // namespace tessera::sim::benchmark
