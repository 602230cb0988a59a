// text.h - texts as lists of parts.
#pragma once

#include <cstdio>
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

/// For JSON: "text", with its control characters, quotes and backslashes escaped.
inline std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        char code[8];
        if (c == '"' || c == '\\') out.append(1, '\\').append(1, c);
        else if (static_cast<unsigned char>(c) >= 0x20) out += c;
        else std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c)), out += code;
    }
    return out + '"';
}

/// For a message: 'text'. (Not quoted(): a call with a std::string would also find the one of <iomanip>.)
inline std::string in_quotes(std::string_view text) { return std::string("'").append(text).append("'"); }

}  // namespace tessera
