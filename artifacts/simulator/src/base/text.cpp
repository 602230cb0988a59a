#include "base/text.h"

#include <algorithm>
#include <cerrno>
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

namespace {

/// Levenshtein's distance: insertions, deletions and replacements of characters.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view asked, const std::vector<std::string>& valid) {
    if (valid.empty()) return "remove it: there are no valid keys";
    std::string hint;
    if (asked.size() < 256) {
        const auto nearest = std::min_element(valid.begin(), valid.end(),
                                              [&](const auto& a, const auto& b) { return distance(asked, a) < distance(asked, b); });
        if (distance(asked, *nearest) * 3 <= nearest->size()) hint = "did you mean " + *nearest + "? ";
    }
    return hint + "valid keys: " + join(valid);
}

}  // namespace tessera::sim
