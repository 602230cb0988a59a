// analysis.h - samples the footprint of the pools over time from outside the program, without slowing it down.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "run/outside.h"

namespace mosalloc::run {

class Analysis {
public:
    explicit Analysis(unsigned interval_ms) : interval_ms_(interval_ms) {}

    /// Adds one row with the current footprint.
    void sample(const mosalloc_pool_map& map);
    /// False when the file can't be written.
    bool write(const std::string& path, const mosalloc_pool_map& map, const Outside& outside) const;

private:
    /// In long runs, drops every second row and from then on samples half as often.
    void thin();

    static constexpr size_t kColumns = 7, kMostRows = 20000;
    unsigned interval_ms_;
    uint64_t started_ms_ = 0;
    uint64_t calls_ = 0, every_ = 1;
    std::vector<std::array<uint64_t, kColumns>> rows_;
};

}  // namespace mosalloc::run
