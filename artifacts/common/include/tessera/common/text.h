// text.h - texts as lists of parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// All parts between separators, empty ones too; they point into `text`.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (size_t at; (at = text.find(separator)) != std::string_view::npos; text.remove_prefix(at + 1)) parts.push_back(text.substr(0, at));
    parts.push_back(text);
    return parts;
}

inline std::string join(const std::vector<std::string>& parts, std::string_view separator = ", ") {
    std::string joined;
    for (const std::string& part : parts) joined.append(joined.empty() ? "" : separator).append(part);
    return joined;
}

/// For a message: 'text'.
inline std::string quoted(std::string_view text) { return std::string("'").append(text).append("'"); }

}  // namespace tessera
