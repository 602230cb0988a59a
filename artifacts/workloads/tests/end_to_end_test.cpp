// The built programs at tiny sizes: result line, exit statuses, and each verifier on a wrong answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "run_program.h"

using namespace tessera::workloads;

namespace {

const char* const kTiny[] = {
    "gups --size 1MB --reads 10000",
    "gups --mode update --size 1MB --reads 10000",
    "gups --unwritten --size 1MB --reads 100000",
    "hashjoin --elements 3000 --probes 9000",
    "btree --elements 3000 --lookups 5000",
    "canneal --elements 1000 --width 40 --height 25 --swaps 300 --temperatures 10",
    "xsbench --model small --gridpoints 40 --particles 50",
    "xsbench --gridpoints 10 --particles 300 --lookups-per-particle 1 --check-every 7",
    "graph500 --scale 8 --roots 4",
    "pr --scale 8 --iterations 5",
    "pr --graph uniform --scale 8 --tolerance 0.001",
    "pr --graph web --scale 9 --iterations 3",
    "bfs --scale 9 --sources 3",
    "bfs --graph road --scale 9",
    "bc --scale 8 --degree 8 --sources 2",
    "sssp --scale 8 --degree 8",
    "sssp --graph web --scale 9 --delta 20",
    "sssp --graph road --scale 9 --delta 50000",
    "network_simplex --trips 200",
    "network_simplex --trips 300 --warm-pivots 50 --pivots 100",
    "event_network --switches 6 --hosts 10 --access-us 40000 --warm-us 60000 --events 3000",
};

TEST(EndToEnd, TinyRunsVerify) {
    for (const char* command : kTiny) {
        const Finished finished = run(command);
        EXPECT_EQ(finished.status, 0) << finished.output;
        EXPECT_TRUE(finished.output.starts_with("{\"workload\": \"")) << finished.output;
        EXPECT_TRUE(finished.output.ends_with("\"verified\": true}\n")) << finished.output;
        EXPECT_EQ(std::count(finished.output.begin(), finished.output.end(), '\n'), 1);
        for (const char* field : {"\"roi_ns\": ", "\"footprint_bytes\": ", "\"checksum\": "})
            EXPECT_NE(finished.output.find(field), std::string::npos) << field;
    }
}

TEST(EndToEnd, ACorruptedAnswerExitsOne) {
    for (const char* command : kTiny) {
        const Finished finished = run(std::string(command) + " --self-test-corrupt");
        EXPECT_EQ(finished.status, 1) << finished.output;
        EXPECT_NE(finished.output.find("\"verified\": false"), std::string::npos);
        EXPECT_NE(finished.output.find("what to do: "), std::string::npos);
    }
}

TEST(EndToEnd, AWrongRequestExitsTwo) {
    for (const char* command :
         {"gups --size 4KX", "gups --size 4095", "gups --mode write", "gups --mode update --size 3MB",
          "gups --mode update --unwritten --size 1MB", "canneal --elements 100 --width 9 --height 11", "xsbench --gridpoints 1",
          "graph500 --scale 41", "pr --graph ring", "bfs --graph file:/nonexistent.sg", "sssp --scale 1", "bc --sources 0",
          "sssp --graph road --scale 20 --delta 1", "graph500 --scale 2 --edge-factor 1 --roots 64", "pr extra"})
        EXPECT_EQ(run(command).status, 2) << command;
}

TEST(EndToEnd, TheSameSeedGivesTheSameChecksum) {
    const auto checksum = [](const std::string& output) {
        const size_t at = output.find("\"checksum\": ");
        return output.substr(at, output.find(',', at) - at);
    };
    for (const std::string command : kTiny) {
        const std::string once = checksum(run(command).output);
        EXPECT_EQ(once, checksum(run(command).output));
        EXPECT_NE(once, checksum(run(command + " --seed 2").output)) << command;
    }
}

TEST(EndToEnd, HelpExitsZeroAndHidesTheSelfTest) {
    for (const char* program : {"gups", "graph500", "pr", "chase", "xsbench", "hashjoin", "btree", "canneal"}) {
        const Finished finished = run(std::string(program) + " --help");
        EXPECT_EQ(finished.status, 0);
        EXPECT_NE(finished.output.find("--seed (default 1)"), std::string::npos);
        EXPECT_EQ(finished.output.find("corrupt"), std::string::npos);
    }
}

const char* const kChase = "chase --elements 17,64 --chains 1,4 --rounds 3 --accesses 1001";

TEST(EndToEnd, AChasePrintsEachMeasurementThenItsLine) {
    const Finished finished = run(kChase);
    EXPECT_EQ(finished.status, 0) << finished.output;
    EXPECT_TRUE(finished.output.starts_with("elements,chains,round,accesses,ns\n")) << finished.output;
    EXPECT_TRUE(finished.output.ends_with("\"verified\": true}\n")) << finished.output;
    // a header, three rounds of four measurements and a clock, a result
    EXPECT_EQ(std::count(finished.output.begin(), finished.output.end(), '\n'), 1 + 3 * 5 + 1);
    for (const char* head : {"\n17,1,2,1001,", "\n17,4,0,1004,", "\n64,4,1,1004,", "\n0,0,2,2097152,"})
        EXPECT_NE(finished.output.find(head), std::string::npos) << head;
}

TEST(EndToEnd, AChaseThatGoesAstrayExitsOne) {
    for (const char* frames : {"random", "ascending", "contiguous"}) {
        const std::string command = std::string(kChase) + " --frames " + frames;
        EXPECT_EQ(run(command).status, 0) << frames;
        EXPECT_EQ(run(command + " --self-test-corrupt").status, 1) << frames;
    }
}

TEST(EndToEnd, AWrongChaseExitsTwo) {
    for (const char* request : {"--elements 1", "--elements 4,,8", "--elements 4 --chains 5", "--stride 100", "--chains 65"})
        EXPECT_EQ(run(std::string("chase ") + request).status, 2) << request;
}

}  // namespace
