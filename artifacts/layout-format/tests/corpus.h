// corpus.h - the examples of this folder for the tests of both components: accepted/, refused/, and layouts with as many
// windows as the limit allows. README.md describes them.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tessera/layout_file/reader.h"

namespace tessera::layout_file::corpus {

struct Accepted {
    std::string name, text;
    std::string expected;  ///< canonical()
};

struct Refused {
    std::string name, text;
    std::string code;
    uint64_t line;
};

inline std::string slurp(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    if (!file) throw std::runtime_error("cannot read " + path.string());
    return content.str();
}

inline std::vector<Accepted> accepted() {
    std::vector<Accepted> found;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TESSERA_LAYOUT_CORPUS) / "accepted"))
        if (entry.path().extension() == ".csv") {
            std::filesystem::path expected = entry.path();
            found.push_back({entry.path().filename(), slurp(entry.path()), slurp(expected.replace_extension(".expected"))});
        }
    return found;
}

/// The rows of refused.csv: file,code,line.
inline std::vector<Refused> refused() {
    const std::filesystem::path folder = TESSERA_LAYOUT_CORPUS;
    std::istringstream table(slurp(folder / "refused.csv"));
    std::vector<Refused> found;
    std::string name, code, line;
    std::getline(table, line);
    while (std::getline(table, name, ',') && std::getline(table, code, ',') && std::getline(table, line))
        found.push_back({name, slurp(folder / "refused" / name), code, std::stoull(line)});
    return found;
}

/// `count` windows of one 2MB page with a gap behind each. Line 1 is the header, line 2 the pool, line 3 + i window i.
inline std::string many_windows(size_t count) {
    std::string text = "type,pageSize,startOffset,endOffset\nmmap,-1,0,1TB\n";
    for (size_t i = 0; i < count; ++i) text += "mmap,2MB," + std::to_string(4 * i) + "MB," + std::to_string(4 * i + 2) + "MB\n";
    return text;
}

inline std::string row(size_t pool, const std::string& page, uint64_t start, uint64_t end) {
    return kPoolNames[pool] + ("," + page) + "," + std::to_string(start) + "," + std::to_string(end) + "\n";
}

/// The canonical form of a layout file: size rows, then windows, with all sizes in plain bytes.
inline std::string canonical(const File& file) {
    std::string text = "type,pageSize,startOffset,endOffset\n";
    for (size_t pool = 0; pool < kPools; ++pool)
        if (file.pool_line[pool] != 0) text += row(pool, "-1", 0, file.pool_bytes[pool]);
    for (size_t i = 0; i < file.window_count; ++i) {
        const Window& w = file.windows[i];
        text += row(w.pool, std::to_string(w.page_bytes), w.start, w.end);
    }
    return text;
}

/// The lines of a canonical form that both components keep: windows of large pages.
inline std::string large_windows(const std::string& canonical) {
    std::istringstream lines(canonical);
    std::string kept, line;
    for (std::getline(lines, line); std::getline(lines, line);)
        if (line.find(",-1,") == std::string::npos && line.find(",4096,") == std::string::npos) kept += line + "\n";
    return kept;
}

}  // namespace tessera::layout_file::corpus
