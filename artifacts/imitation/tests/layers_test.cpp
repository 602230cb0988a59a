// Folders from bottom to top: base, disk and phys, pt and slab, lru, swap and file and hugetlb, reclaim and compact, vm, cli. A file
// includes its own folder and those below.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

extern "C" {
#include "pt/table.h"
}

namespace {

namespace fs = std::filesystem;
const std::map<std::string, int> level = {{"base", 0},    {"phys", 1}, {"disk", 1},        {"pt", 2},      {"slab", 2},
                                          {"lru", 3},     {"swap", 4}, {"file", 4},        {"hugetlb", 4}, {"reclaim", 5},
                                          {"compact", 5}, {"vm", 6},   {"vm/policies", 6}, {"cli", 7}};

TEST(Layers, IncludesGoDownward) {
    const std::string include = "#include \"";
    int found = 0;
    for (const auto &[room, own] : level)
        for (const auto &file : fs::directory_iterator(fs::path(IMITATION_SOURCE) / room)) {
            std::ifstream text(file.path());
            for (std::string line; std::getline(text, line);) {
                if (line.rfind(include, 0) != 0) continue;
                const std::string included = line.substr(include.size(), line.find('/') - include.size());
                ASSERT_EQ(level.count(included), 1u) << file.path() << ": " << line;
                EXPECT_LE(level.at(included), own) << file.path() << ": " << line;
                ++found;
            }
        }
    EXPECT_GT(found, 40);
}

TEST(Layers, EntriesHaveOneWriter) {
    // The slots of a table are const: pt_write casts that away, and so does the split, for a table that is not in place yet.
    std::map<std::string, int> casts;
    for (const auto &[room, own] : level)
        for (const auto &file : fs::directory_iterator(fs::path(IMITATION_SOURCE) / room)) {
            std::ifstream text(file.path());
            for (std::string line; std::getline(text, line);)
                if (line.find("(pt_entry *)") != std::string::npos) ++casts[room + "/" + file.path().filename().string()];
        }
    EXPECT_EQ(casts, (std::map<std::string, int>{{"pt/huge.c", 1}, {"pt/table.h", 1}}));
    EXPECT_TRUE(std::is_const_v<std::remove_extent_t<decltype(pt_table::slot)>>);
}

}  // namespace
