// progress.h - `progress <done> <total> accesses x layouts` on stderr, about twice a second.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

namespace tessera::sim {

class Progress {
public:
    explicit Progress(uint64_t total) : total_(total) {}
    void add(uint64_t work) {
        done_ += work;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(500)) return;
        last_ = now;
        print();
    }
    void finish() {
        done_ = total_;
        print();
        if (terminal_) std::fputc('\n', stderr);
    }

private:
    void print() const {
        std::fprintf(stderr, "progress %llu %llu accesses x layouts%s", static_cast<unsigned long long>(done_),
                     static_cast<unsigned long long>(total_), terminal_ ? "\r" : "\n");
        std::fflush(stderr);
    }

    uint64_t done_ = 0, total_;
    bool terminal_ = isatty(2) != 0;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::sim
