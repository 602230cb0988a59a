// problem.h - why a run can't be counted: what was asked, what was found, what to do.
#pragma once

#include <string>

namespace tessera::counters {

struct Problem {
    std::string asked, found, remedy;
    explicit operator bool() const { return !found.empty(); }
};

}  // namespace tessera::counters
