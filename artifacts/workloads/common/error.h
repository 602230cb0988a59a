// error.h - the exception of all workloads; its message says what was asked, what was found and what to do.
//
// Exit status 2: the request is wrong (a bad argument, or not enough memory on this machine).
// Exit status 1: the request is valid, but the work failed (the verifier found an error).
#pragma once

#include <stdexcept>
#include <string>

namespace tessera::workloads {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

class Error : public std::runtime_error {
public:
    Error(const std::string& asked, const std::string& found, const std::string& remedy, int exit_status = kExitUsage)
        : std::runtime_error(asked + ": " + found + "\n  what to do: " + remedy), exit_status_(exit_status) {}

    int exit_status() const { return exit_status_; }

private:
    int exit_status_;
};

}  // namespace tessera::workloads
