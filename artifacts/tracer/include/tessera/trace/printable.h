// printable.h - texts of a file as a terminal can show them: nothing in them moves the cursor or reverses the line.
#pragma once

#include <string>
#include <string_view>

namespace tessera::trace {

/// Printable characters of UTF-8 as they are; each byte of all others (control characters, marks of direction and of no
/// width, malformed bytes) as \xNN.
std::string printable(std::string_view text);

/// As printable(), but line breaks stay: for a message of several lines.
std::string printable_lines(std::string_view text);

}  // namespace tessera::trace
