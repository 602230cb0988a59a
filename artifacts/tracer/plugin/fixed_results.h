// SPDX-License-Identifier: GPL-2.0-only
// fixed_results.h - what the kernel tells a recorded program about chance, time and the machine, replaced by fixed values.
//
// Two recordings of a program must have the same accesses, so results that differ between runs or machines are overwritten
// in the program's memory when the call returns: random bytes (getrandom, /dev/urandom, /dev/random), the machine's memory
// (sysinfo), the preferred size of a file's blocks (stat and its relatives; stdio sizes its buffers by it, and file systems
// differ), and, on request, clocks. A plugin of QEMU 7.2 cannot change a call's return value, so `time` without
// an argument stays, as does the instruction rdtsc, which is no call. (QEMU's -seed fixes AT_RANDOM and rdrand.)
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "syscalls.h"

namespace tessera::tracer {

/// Bytes to write over the program's memory.
struct Overwrite {
    uint64_t address;
    std::vector<uint8_t> bytes;
};

class FixedResults {
public:
    /// `clocks`: also fix clocks. Each call that asks for the time then sees it 1 microsecond later than the call before.
    explicit FixedResults(bool clocks) : clocks_(clocks) {}

    /// What to write after `call` returned `result`. It must see each call of the program, in their order.
    std::vector<Overwrite> after(const SystemCall& call, int64_t result, const ReadMemory& read_memory);

private:
    std::vector<uint8_t> random(size_t count);

    bool clocks_;
    uint64_t random_words_ = 0, clock_calls_ = 0;
    std::set<uint64_t> random_files_;  // descriptors
};

/// What every recorded program sees: 16 GB, all free.
constexpr uint64_t fixed_memory_bytes = uint64_t{16} << 30;
/// st_blksize of every file.
constexpr uint32_t fixed_file_block_bytes = 4096;
/// The second in which every clock begins: 2020-09-13, 12:26:40 UTC.
constexpr int64_t fixed_clock_seconds = 1'600'000'000;

}  // namespace tessera::tracer
