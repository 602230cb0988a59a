// Programs that prepare, check and load: the same results as with a build, shared files, and wrong requests.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "run_program.h"
#include "scratch_folder.h"

using namespace tessera::workloads;

namespace {

const char* const kPrograms[] = {
    "graph500 --scale 9 --roots 3", "bc --scale 9 --degree 8 --sources 2",       "bfs --scale 9 --degree 8 --sources 3",
    "bfs --graph road --scale 10",  "pr --scale 9 --degree 8 --iterations 4",    "pr --graph web --scale 10 --iterations 3",
    "sssp --scale 9 --degree 8",    "sssp --graph road --scale 9 --delta 50000", "xsbench --model small --gridpoints 40 --particles 50",
};

/// The line without the time of a run, and without the distance from the oracle: it sums the edges of a file in another
/// order, which shows in the ninth digit.
std::string results_of(std::string line) {
    for (const char* field : {"\"roi_ns\"", "\"largest_difference\""})
        if (const size_t at = line.find(field); at != std::string::npos) line.erase(at, line.find(',', at) - at);
    return line;
}

class PreparedPrograms : public ::testing::Test {
protected:
    Finished prepare(const std::string& command, const std::string& name, const std::string& more = "") {
        return run(command + " --prepare " + folder_.path(name) + " " + more);
    }
    ScratchFolder folder_;
};

TEST_F(PreparedPrograms, RunAsIfTheyHadBuilt) {
    for (const std::string command : kPrograms) {
        const Finished made = prepare(command, "f");
        EXPECT_EQ(made.status, 0) << made.output;
        for (const std::string& field :
             {"\"prepared\": \"" + folder_.path("f") + "\"", "\"bytes\": " + std::to_string(bytes_of(folder_.path("f")).size()),
              std::string("\"seconds\": "), std::string("\"checksum\": "), std::string("\"verified\": true}\n")})
            EXPECT_NE(made.output.find(field), std::string::npos) << field << " in " << made.output;
        const std::string built = results_of(run(command).output);
        EXPECT_EQ(results_of(run(command + " --prepared " + folder_.path("f")).output), built);
        EXPECT_EQ(results_of(run(command + " --prepared " + folder_.path("f") + " --verify-prepared").output), built);
        EXPECT_EQ(run(command + " --check-prepared " + folder_.path("f")).status, 0);
        EXPECT_EQ(run(command + " --self-test-corrupt --prepared " + folder_.path("f")).status, 1);
    }
}

TEST_F(PreparedPrograms, WriteTheSameBytesWithAnyNumberOfThreads) {
    for (const std::string command : kPrograms) {
        for (const std::string threads : {"1", "2", "8"}) EXPECT_EQ(prepare(command, threads, "--threads " + threads).status, 0);
        EXPECT_TRUE(bytes_of(folder_.path("1")) == bytes_of(folder_.path("2"))) << command;
        EXPECT_TRUE(bytes_of(folder_.path("1")) == bytes_of(folder_.path("8"))) << command;
    }
}

TEST_F(PreparedPrograms, ShareAGraphWithoutWeights) {
    for (const std::string program : {"bc", "bfs", "pr"}) prepare(program + " --graph uniform --scale 8 --degree 6", program);
    EXPECT_TRUE(bytes_of(folder_.path("bc")) == bytes_of(folder_.path("bfs")));
    EXPECT_TRUE(bytes_of(folder_.path("bc")) == bytes_of(folder_.path("pr")));
    const std::string sssp = "sssp --graph uniform --scale 8 --degree 6 --prepared ";
    EXPECT_NE(run(sssp + folder_.path("bc")).output.find("weights=yes"), std::string::npos);
}

TEST_F(PreparedPrograms, RefuseOtherArgumentsAndDamage) {
    const std::string file = folder_.path("g");
    prepare("bc --scale 8 --degree 8", "g");
    for (const char* other : {"bc --scale 9 --degree 8", "bc --scale 8 --degree 9", "bc --scale 8 --degree 8 --seed 2",
                              "bc --graph web --scale 8 --degree 8", "graph500 --scale 8", "xsbench --gridpoints 8"}) {
        const Finished finished = run(std::string(other) + " --prepared " + file);
        EXPECT_EQ(finished.status, 2) << other;
        EXPECT_NE(finished.output.find("scale=8"), std::string::npos) << finished.output;
    }
    EXPECT_EQ(run("bc --scale 8 --degree 8 --sources 1 --prepared " + file).status, 0);  // no argument of the graph
    std::string bytes = bytes_of(file);
    bytes[bytes.size() / 2] ^= 4;
    write_bytes_to(file, bytes);
    for (const char* how : {" --verify-prepared --prepared ", " --check-prepared "})
        EXPECT_EQ(run("bc --scale 8 --degree 8" + (how + file)).status, 1) << how;
    std::filesystem::resize_file(file, bytes.size() - 1);
    EXPECT_EQ(run("bc --scale 8 --degree 8 --prepared " + file).status, 1);
}

TEST_F(PreparedPrograms, RefuseOptionsThatExcludeEachOther) {
    const std::string file = folder_.path("f");
    for (const std::string& options :
         {"--prepare " + file + " --prepared " + file, "--check-prepared " + file + " --prepare " + file, std::string("--threads 2"),
          std::string("--verify-prepared"), std::string("--prepare ''"), "--prepare " + folder_.path("no/f"),
          "--prepare " + folder_.path("f\\\"g"), "--prepare " + file + " --threads 0", "--prepared " + file + " --threads 2",
          "--prepared " + folder_.path("missing")}) {
        const Finished finished = run("pr --scale 6 " + options);
        EXPECT_EQ(finished.status, options.find("\"g") == std::string::npos ? 2 : 1) << options << finished.output;
        EXPECT_NE(finished.output.find("what to do: "), std::string::npos) << options;
    }
    EXPECT_EQ(run("graph500 --scale 32 --prepare " + file).status, 2);
    EXPECT_FALSE(folder_.holds("f.partial"));
}

TEST_F(PreparedPrograms, OverwriteWhatAKilledPreparationLeft) {
    write_bytes_to(folder_.path("f.partial"), "half");
    EXPECT_EQ(prepare("pr --scale 8", "f").status, 0);
    EXPECT_FALSE(folder_.holds("f.partial"));
    EXPECT_EQ(run("pr --scale 8 --prepared " + folder_.path("f")).status, 0);
}

}  // namespace
