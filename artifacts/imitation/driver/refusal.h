// refusal.h - an error of the driver: asked, found, remedy, and the exit status (2: wrong request, 1: failed work).
#pragma once

#include <stdexcept>
#include <string>

namespace tessera::os {

struct Refusal : std::runtime_error {
    Refusal(const std::string &asked, const std::string &found, const std::string &remedy, int status = 2)
        : std::runtime_error(asked + ": " + found + "\n  what to do: " + remedy), status(status) {}
    int status;
};

}  // namespace tessera::os
