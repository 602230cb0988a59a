// text.h - text functions for flat files and CSV rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::sim {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

/// Decimal digits only (no sign, no suffix); nullopt on anything else or on overflow.
std::optional<uint64_t> parse_unsigned(std::string_view text);

/// Bytes: digits, or digits with KB, MB or GB (powers of two); nullopt on anything else or on overflow.
std::optional<uint64_t> parse_bytes(std::string_view text);

/// Quoted when it holds a comma, a quote or a line break (RFC 4180).
std::string csv_field(std::string_view text);

/// Whole file. Throws Refusal naming `what` and the path.
std::string read_text(const std::string& path, const std::string& what);

/// A remedy for an unknown name: the nearest valid one, if one is near, and all of them.
std::string did_you_mean(std::string_view asked, const std::vector<std::string>& valid);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace tessera::sim
