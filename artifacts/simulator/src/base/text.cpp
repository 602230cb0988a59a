#include "base/text.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace tessera::sim {

std::string_view trim(std::string_view text) {
    const char* blank = " \t\r\n";
    const size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::optional<uint64_t> parse_unsigned(std::string_view text) {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
    return value;
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
    unsigned shift = 0;
    if (text.ends_with("KB")) shift = 10;
    if (text.ends_with("MB")) shift = 20;
    if (text.ends_with("GB")) shift = 30;
    if (shift != 0) text.remove_suffix(2);
    const auto value = parse_unsigned(text);
    if (!value || *value > (~uint64_t{0} >> shift)) return std::nullopt;
    return *value << shift;
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"') quoted += '"';
        quoted += c == '\n' || c == '\r' ? ' ' : c;  // one row stays one line
    }
    return quoted + '"';
}

std::string read_text(const std::string& path, const std::string& what) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream content;
    if (file) content << file.rdbuf();
    if (!file || file.bad()) throw Refusal(what + " " + path, std::strerror(errno), "check the path");
    return content.str();
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string joined;
    for (const std::string& part : parts) {
        if (!joined.empty()) joined += separator;
        joined += part;
    }
    return joined;
}

}  // namespace tessera::sim
