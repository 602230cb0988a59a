// numbers.h - numbers in texts: the whole text is one number, or there is none.
//
// atoi and strtoul accept "12abc", read "-1" as a huge number, and overflow silently. A program that silently runs with
// another number gives a plausible but wrong result.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// Digits of `base` only: no sign, no blank, no prefix. Nothing on anything else, or if it does not fit 64 bits.
inline std::optional<uint64_t> whole_number(std::string_view text, int base = 10) {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

/// Whether `text` is a whole_number(), which `out` then is.
inline bool read_number(std::string_view text, uint64_t& out) {
    const auto value = whole_number(text);
    out = value.value_or(out);
    return value.has_value();
}

/// Decimal digits, or 0x and hexadecimal digits.
inline std::optional<uint64_t> number_or_hex(std::string_view text) {
    return text.substr(0, 2) == "0x" ? whole_number(text.substr(2), 16) : whole_number(text);
}

/// Whether `text` is digits, whatever their number: what is no whole_number then does not fit 64 bits.
inline bool all_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

/// Splits a size: digits, then nothing or one of KB, MB, GB, TB. Returns the digits; `shift` is the unit's power of two.
inline std::string_view digits_of_size(std::string_view text, unsigned* shift) {
    constexpr std::string_view units[] = {"KB", "MB", "GB", "TB"};
    *shift = 0;
    if (text.size() < 2) return text;
    for (unsigned i = 0; i < 4; ++i)
        if (text.substr(text.size() - 2) == units[i]) *shift = 10 * (i + 1);
    return text.substr(0, text.size() - (*shift == 0 ? 0 : 2));
}

/// Bytes: digits, then nothing or one of KB, MB, GB, TB (powers of two). Nothing on anything else, or if it does not fit.
inline std::optional<uint64_t> size_in_bytes(std::string_view text) {
    unsigned shift;
    const auto value = whole_number(digits_of_size(text, &shift));
    if (!value || *value > (~uint64_t{0} >> shift)) return std::nullopt;
    return *value << shift;
}

/// A finite decimal number.
inline std::optional<double> real_number(std::string_view text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value - value != 0) return std::nullopt;  // inf and nan are none
    return value;
}

}  // namespace tessera
