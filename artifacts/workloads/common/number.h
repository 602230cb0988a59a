// number.h - numbers of arguments: the whole text is one number, or an Error. `owner` starts the message ("gups: --reads").
#pragma once

#include <string>
#include <string_view>

#include "common/error.h"
#include "tessera/common/numbers.h"
#include "tessera/common/text.h"

namespace tessera::workloads {

/// Non-negative decimal integer.
inline uint64_t parse_count(std::string_view owner, std::string_view text) {
    if (const auto value = whole_number(text)) return *value;
    const std::string shown = in_quotes(text);
    if (all_digits(text)) throw Error(std::string(owner), shown + " does not fit 64 bits", "give a smaller number");
    throw Error(std::string(owner), shown + " is not a non-negative integer", "write decimal digits only, for example 1000000");
}

/// Bytes: digits, then nothing or one of KB, MB, GB, TB (powers of two).
inline uint64_t parse_size(std::string_view owner, std::string_view text) {
    if (const auto value = size_in_bytes(text)) return *value;
    const std::string shown = in_quotes(text);
    unsigned shift;
    if (all_digits(digits_of_size(text, &shift))) throw Error(std::string(owner), shown + " does not fit 64 bits", "give a smaller size");
    throw Error(std::string(owner), shown + " is not a size", "write bytes, or a number with KB, MB, GB or TB, for example 64MB");
}

/// Finite decimal number.
inline double parse_real(std::string_view owner, std::string_view text) {
    if (const auto value = real_number(text)) return *value;
    throw Error(std::string(owner), in_quotes(text) + " is not a number", "write a decimal number, for example 0.0001");
}

}  // namespace tessera::workloads
