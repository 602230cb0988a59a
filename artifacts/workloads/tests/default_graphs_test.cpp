// The stand-in graphs of config/workloads/gapbs-*.yaml at smaller scales: the diameter class and the degrees that
// docs/howto/datasets.md gives. They run the `graph` program as it was built for measuring, so seconds, not minutes.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string shape(const std::string& arguments) {
    const char* folder = std::getenv("WORKLOADS_BIN");  // set by ctest
    if (folder == nullptr) return "WORKLOADS_BIN is not set: run these tests with ctest";
    FILE* pipe = popen((std::string(folder) + "/graph " + arguments).c_str(), "r");
    if (pipe == nullptr) return "popen failed";
    std::string output;
    std::array<char, 4096> buffer;
    while (const size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
    return pclose(pipe) == 0 ? output : "failed: " + output;
}

double field(const std::string& line, const std::string& name) {
    const size_t at = line.find("\"" + name + "\": ");
    EXPECT_NE(at, std::string::npos) << name << " in " << line;
    return at == std::string::npos ? -1 : std::strtod(line.c_str() + at + name.size() + 4, nullptr);
}

TEST(DefaultGraphs, RoadsAreThousandsOfHopsAcross) {
    const std::string line = shape("--graph road --scale 22");
    EXPECT_GT(field(line, "pseudo_diameter"), 2000);
    EXPECT_LT(field(line, "pseudo_diameter"), 10000);
    EXPECT_NEAR(field(line, "edges_per_connected_vertex"), 2.41, 0.05);  // USA: 57,708,624 / 23,947,347
    EXPECT_EQ(field(line, "reached_vertices"), field(line, "vertices"));  // one component
}

TEST(DefaultGraphs, TheWebIsTensOfHopsAcross) {
    const std::string line = shape("--graph web --scale 21 --degree 8");
    EXPECT_GT(field(line, "pseudo_diameter"), 20);
    EXPECT_LT(field(line, "pseudo_diameter"), 200);
    EXPECT_GT(field(line, "near_edges"), 0.6);
    EXPECT_GT(field(line, "largest_in_degree"), 10000);
}

TEST(DefaultGraphs, TwitterIsFewHopsAcrossAndSkewed) {
    const std::string line = shape("--graph kronecker --scale 22 --degree 6");
    EXPECT_GT(field(line, "pseudo_diameter"), 3);
    EXPECT_LT(field(line, "pseudo_diameter"), 15);
    EXPECT_GT(field(line, "in_edges_of_top_percent"), 0.4);
    EXPECT_LT(field(line, "near_edges"), 0.01);
}

}  // namespace
