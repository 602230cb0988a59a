// structure_counts.h - counts of one structure of a design over the whole stream: a row of designs.csv.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::sim {

struct StructureCounts {
    std::string name;            ///< "anchor"
    uint64_t accesses = 0, hits = 0;
    uint64_t lookup_cycles = 0;  ///< that its look-ups added to accesses
    bool operator==(const StructureCounts&) const = default;
    StructureCounts& operator+=(const StructureCounts& more) {
        accesses += more.accesses, hits += more.hits, lookup_cycles += more.lookup_cycles;
        return *this;
    }
    /// What came since `before`, which are earlier counts of the same structure.
    StructureCounts& operator-=(const StructureCounts& before) {
        accesses -= before.accesses, hits -= before.hits, lookup_cycles -= before.lookup_cycles;
        return *this;
    }
};

}  // namespace tessera::sim
