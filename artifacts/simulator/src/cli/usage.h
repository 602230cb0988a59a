// usage.h - what a run of the simulator itself took: times and memory, for --usage-out.
#pragma once

#include <chrono>
#include <string>

namespace tessera::sim {

/// Begins with its construction.
class Usage {
public:
    static std::string header() { return "wall_seconds,processor_seconds,peak_memory_bytes"; }
    /// A line. Processor time (user and system) and the largest resident memory (VmHWM) are of the whole process.
    std::string line() const;

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::sim
