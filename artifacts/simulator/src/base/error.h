// error.h - the errors of the simulator; a message says what was asked, what was found and what to do.
#pragma once

#include <string>

#include "tessera/common/error.h"

namespace tessera::sim {

/// Makes text of a damaged file printable: removes control characters except line breaks (a NUL would end the message)
/// and limits the length.
inline std::string printable(std::string text) {
    constexpr size_t most = 8000;  // the longest list of valid names is a quarter of it
    if (text.size() > most) text.replace(most, std::string::npos, "...");
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' && c != '\n') c = '?';
    return text;
}

/// Wrong request (exit status 2).
struct Refusal : Error {
    explicit Refusal(const Problem& p) : Error(printable(p.asked), printable(p.found), printable(p.remedy)) {}
    Refusal(const std::string& asked, const std::string& found, const std::string& remedy) : Refusal(Problem{asked, found, remedy}) {}
};

/// A failure of the machine at a valid request (exit status 1), for example a full disk.
struct Failure : Error {
    Failure(const std::string& asked, const std::string& found, const std::string& remedy)
        : Error(printable(asked), printable(found), printable(remedy), kExitFailed) {}
};

}  // namespace tessera::sim
