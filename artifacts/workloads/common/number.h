// number.h - checked number parsing: the whole text is one number, or an Error.
//
// atoi and strtoul accept "12abc", read "-1" as a huge count, and overflow silently. A benchmark that silently
// runs with another size gives a plausible but wrong result.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.h"

namespace tessera::workloads {

/// Non-negative decimal integer. `owner` starts the error message ("gups: --reads").
inline uint64_t parse_count(std::string_view owner, std::string_view text) {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    auto [stop, status] = std::from_chars(text.data(), end, value);
    if (status == std::errc::result_out_of_range)
        throw Error(std::string(owner), "'" + std::string(text) + "' does not fit 64 bits", "give a smaller number");
    if (status != std::errc{} || stop != end)
        throw Error(std::string(owner), "'" + std::string(text) + "' is not a non-negative integer",
                    "write decimal digits only, for example 1000000");
    return value;
}

/// Bytes: digits, then nothing or one of KB, MB, GB, TB (powers of two).
inline uint64_t parse_size(std::string_view owner, std::string_view text) {
    static constexpr struct {
        std::string_view suffix;
        unsigned shift;
    } kUnits[] = {{"KB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}};
    unsigned shift = 0;
    std::string_view digits = text;
    for (const auto& unit : kUnits) {
        if (text.ends_with(unit.suffix)) {
            shift = unit.shift;
            digits.remove_suffix(unit.suffix.size());
        }
    }
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
        throw Error(std::string(owner), "'" + std::string(text) + "' is not a size",
                    "write bytes, or a number with KB, MB, GB or TB, for example 64MB");
    const uint64_t value = parse_count(owner, digits);
    if (value > (UINT64_MAX >> shift))
        throw Error(std::string(owner), "'" + std::string(text) + "' does not fit 64 bits", "give a smaller size");
    return value << shift;
}

/// Finite decimal number.
inline double parse_real(std::string_view owner, std::string_view text) {
    double value = 0;
    const char* end = text.data() + text.size();
    auto [stop, status] = std::from_chars(text.data(), end, value);
    const bool finite = value - value == 0;  // false for inf and nan
    if (status != std::errc{} || stop != end || !finite)
        throw Error(std::string(owner), "'" + std::string(text) + "' is not a number", "write a decimal number, for example 0.0001");
    return value;
}

}  // namespace tessera::workloads
