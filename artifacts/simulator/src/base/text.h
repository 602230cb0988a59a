// text.h - text functions for flat files and CSV rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/common/numbers.h"
#include "tessera/common/text.h"

namespace tessera::sim {

std::string_view trim(std::string_view text);

/// Quoted when it holds a comma, a quote or a line break (RFC 4180).
std::string csv_field(std::string_view text);

/// Whole file. Throws Refusal naming `what` and the path.
std::string read_text(const std::string& path, const std::string& what);

/// A remedy for an unknown name: the nearest valid one, if one is near, and all of them.
std::string did_you_mean(std::string_view asked, const std::vector<std::string>& valid);

}  // namespace tessera::sim
