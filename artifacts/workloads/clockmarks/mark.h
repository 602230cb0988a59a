// mark.h - what a micro-benchmark is: it prepares an array, then makes rounds that are all alike.
//
// A round's answer is known without running it, or is the same in each round; both are checked. Rounds take some 100
// microseconds or more, so that clocks and interrupts do not matter. Bodies that are about single instructions are written in
// assembly, because a compiler would choose others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/measure.h"
#include "common/rng.h"

namespace tessera::workloads {

/// The array of a mark, zeroed, from a page boundary on.
struct Arena {
    char* base;
    uint64_t bytes;
    uint64_t* words() const { return reinterpret_cast<uint64_t*>(base); }
    uint64_t word_count() const { return bytes / sizeof(uint64_t); }
};

struct Mark {
    const char* name;
    const char* unit;                  ///< what is counted: `step`, `load`, `line`, ...
    uint64_t units;                    ///< of one round
    uint64_t bytes;                    ///< of the array, at least a page
    void (*prepare)(const Arena&);     ///< before the first round
    uint64_t (*round)(const Arena&);   ///< returns an answer
    uint64_t (*answer)(const Arena&);  ///< what each round must return, computed in another way
};

/// For marks whose answer is a constant of the code, and for those that need no array.
inline void no_preparation(const Arena&) {}
template <uint64_t value>
uint64_t constant(const Arena&) {
    return value;
}

std::vector<Mark> chain_marks();     ///< latencies of instructions
std::vector<Mark> width_marks();     ///< instructions, loads and stores in a cycle
std::vector<Mark> load_marks();      ///< loads by level, walks, streams
std::vector<Mark> independent_marks();  ///< loads without a chain, by level
std::vector<Mark> crossing_marks();  ///< accesses inside a line, across lines, across pages
std::vector<Mark> store_marks();     ///< stores by level, forwarding, read-modify-write
std::vector<Mark> branch_marks();    ///< branches, calls, the stack
std::vector<Mark> string_marks();    ///< memset and memcpy

}  // namespace tessera::workloads
