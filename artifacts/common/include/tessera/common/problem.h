// problem.h - why a request cannot be fulfilled: what was asked, what was found, what to do.
#pragma once

#include <cstdio>
#include <string>

namespace tessera {

/// Exit statuses of all programs: the request was right, but the work failed; the request was wrong.
inline constexpr int kExitFailed = 1, kExitUsage = 2;

struct Problem {
    std::string asked, found, remedy;

    explicit operator bool() const { return !found.empty(); }
    std::string message() const { return asked + ": " + found + "\n  what to do: " + remedy; }
};

/// Prints the problem of `program` on stderr and returns `status`, with which it exits.
inline int report(const char* program, int status, const Problem& problem) {
    std::fprintf(stderr, "%s: %s\n", program, problem.message().c_str());
    return status;
}

}  // namespace tessera
