// dram_rows.h - counts of loads by what they found in the row buffer of their bank.
//
// Rows open in program order, so counts do not depend on time. Plain data only: it crosses into code compiled for other instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::sim {

/// Who asks memory: an instruction, a page walk (dram.queues_walks), a prefetcher. Write-backs open no row, and background loads of a design do
/// not ask (docs/clock.md, "Memory").
enum class DramAsker : uint8_t { program, walk, prefetch };
inline constexpr size_t dram_askers = 3;

/// Loads by what they found in their bank: their row open, no row open, another row open.
struct DramRows {
    uint64_t hits = 0, closed = 0, conflicts = 0;
    bool operator==(const DramRows&) const = default;
    DramRows& operator+=(const DramRows& more) {
        hits += more.hits, closed += more.closed, conflicts += more.conflicts;
        return *this;
    }
    DramRows& operator-=(const DramRows& less) {
        hits -= less.hits, closed -= less.closed, conflicts -= less.conflicts;
        return *this;
    }
};

struct DramCounts {
    DramRows of[dram_askers];  ///< index: DramAsker
    bool operator==(const DramCounts&) const = default;
    DramCounts& operator+=(const DramCounts& more) {
        for (size_t asker = 0; asker < dram_askers; ++asker) of[asker] += more.of[asker];
        return *this;
    }
    DramCounts& operator-=(const DramCounts& less) {
        for (size_t asker = 0; asker < dram_askers; ++asker) of[asker] -= less.of[asker];
        return *this;
    }
    DramRows all() const {
        DramRows sum;
        for (const DramRows& rows : of) sum += rows;
        return sum;
    }
};

}  // namespace tessera::sim
