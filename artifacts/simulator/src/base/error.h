// error.h - a refusal: what was asked, what was found, what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace tessera::sim {

/// Wrong request (exit status 2). what() is "asked: found\n  what to do: remedy".
struct Refusal : std::runtime_error {
    Refusal(const std::string& asked, const std::string& found, const std::string& remedy)
        : std::runtime_error(asked + ": " + found + "\n  what to do: " + remedy) {}
};

}  // namespace tessera::sim
