// progress.h - prints the progress of a run on stderr, about twice a second.
//
// Where stderr is a terminal: one line for people, rewritten in place. Elsewhere a line for programs:
//   progress <done> <total> <rate> <eta>
// done and total in accesses x layouts, rate in those a second, eta in seconds ("-" before the first second has passed).
// May be called from several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tessera::sim {

class Progress {
public:
    explicit Progress(uint64_t total);
    void add(uint64_t work);
    /// Prints the last state; nothing more is done.
    void finish();

    /// The line for programs, after `seconds` of work.
    static std::string line(uint64_t done, uint64_t total, double seconds);
    /// The line for people.
    static std::string sentence(uint64_t done, uint64_t total, double seconds);

private:
    using Clock = std::chrono::steady_clock;
    void print(Clock::time_point now);

    std::mutex mutex_;
    uint64_t done_ = 0, total_;
    bool terminal_;
    Clock::time_point begin_, printed_;
};

}  // namespace tessera::sim
