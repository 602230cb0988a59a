// error.h - a refusal or a failure: what was asked, what was found, what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace tessera::sim {

/// Text of a damaged file, fit for a message: no control characters (a NUL would end it) but line breaks, and not endless.
inline std::string printable(std::string text) {
    constexpr size_t most = 8000;  // the longest list of valid names is a quarter of it
    if (text.size() > most) text.replace(most, std::string::npos, "...");
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' && c != '\n') c = '?';
    return text;
}

/// Wrong request (exit status 2). what() is "asked: found\n  what to do: remedy".
struct Refusal : std::runtime_error {
    Refusal(const std::string& asked, const std::string& found, const std::string& remedy)
        : std::runtime_error(printable(asked) + ": " + printable(found) + "\n  what to do: " + printable(remedy)) {}
};

/// The machine failed at a right request (exit status 1), as with a full disk. what() as a Refusal's.
struct Failure : std::runtime_error {
    Failure(const std::string& asked, const std::string& found, const std::string& remedy)
        : std::runtime_error(printable(asked) + ": " + printable(found) + "\n  what to do: " + printable(remedy)) {}
};

}  // namespace tessera::sim
