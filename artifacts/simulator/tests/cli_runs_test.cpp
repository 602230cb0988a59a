// cli_runs_test.cpp - results do not depend on threads, groups or order; runs that stop early.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli_fixture.h"

namespace tessera::sim::testing {
namespace {

class CliRuns : public CliFixture {
protected:
    /// The list's lines in another order.
    void shuffle(const std::string& from, const std::string& to) const {
        auto all = lines(read_text(path(from), "list"));
        std::shuffle(all.begin(), all.end(), std::mt19937_64(5));
        file(to, join(all, "\n"));
    }
};

TEST_F(CliRuns, ThreadsGroupsAndOrderChangeNothing) {
    write_layouts("many", 21);
    shuffle("many", "shuffled");
    for (const char* engine : {"partial", "timing"}) {
        const std::string plan = " --intervals 3 --warmup 3000 --timed 4000 --interval-out " + path("units.csv");
        const Output once = run(common(engine, "many") + plan);
        ASSERT_EQ(once.status, 0) << once.err;
        const std::string units = read_text(path("units.csv"), "units");
        EXPECT_EQ(lines(units).size(), 1u + 21 * 3);
        for (const char* way : {" --threads 2", " --threads 3 --group 4", " --group 1", " --group 7 --threads 16"}) {
            const Output other = run(common(engine, "many") + plan + way);
            EXPECT_EQ(other.out, once.out) << engine << way << other.err;
            EXPECT_EQ(read_text(path("units.csv"), "units"), units) << engine << way;
        }
        auto rows = lines(once.out), shuffled = lines(run(common(engine, "shuffled") + plan + " --threads 2 --group 5").out);
        EXPECT_NE(rows, shuffled) << "the rows follow the list";
        std::sort(rows.begin(), rows.end());
        std::sort(shuffled.begin(), shuffled.end());
        EXPECT_EQ(rows, shuffled) << engine;
    }
}

TEST_F(CliRuns, PlainWordsAndTheirPlanAreTheSame) {
    const Output plain = run(common("timing") + " --intervals 4 --warmup 2000 --timed 3000");
    EXPECT_EQ(plain.out, run(common("timing") + " --sampling units=4,warmup_accesses=2000,timed_instructions=3000").out);
    EXPECT_NE(plain.out, run(common("timing")).out);
}

TEST_F(CliRuns, UnitsOfChosenIntervalsAreThoseAskedFor) {
    // Two instructions and one access a block: 3000 instructions are 1500 accesses.
    file("intervals.csv", "start_access,warmup_accesses,timed_instructions,weight\n1000,500,3000,1\n3000,0,3000,1\n40000,100,2000,3\n");
    const Output o = run(common("timing") + " --interval-file " + path("intervals.csv") + " --interval-out " + path("units.csv"));
    ASSERT_EQ(o.status, 0) << o.err;
    const auto units = lines(read_text(path("units.csv"), "units"));
    ASSERT_EQ(units.size(), 1u + 2 * 3);
    EXPECT_EQ(units[0], "layout,unit,start_access,instructions,accesses,stlb_misses,walk_cycles,runtime_cycles");
    EXPECT_TRUE(units[1].starts_with("growing-0,0,1000,3000,1500,"));
    EXPECT_TRUE(units[2].starts_with("growing-0,1,3000,3000,1500,"));
    EXPECT_TRUE(units[6].starts_with("growing-8,2,40000,2000,1000,"));
    // The row is the weighted ratio of these units: sum(w C) / sum(w instructions) x 100000 instructions.
    double walk = 0, instructions = 0;
    for (int i : {1, 2, 3}) {
        const auto cell = split(units[i], ',');
        const double weight = i == 3 ? 3 : 1;
        walk += weight * double(*whole_number(cell[6]));
        instructions += weight * double(*whole_number(cell[3]));
    }
    const std::string row = lines(o.out)[1];
    const auto cell = split(row, ',');
    EXPECT_EQ(cell[7], std::to_string(std::llround(walk / instructions * 100000)));
    EXPECT_EQ(cell[12], "") << "loads are counted over all units together";
    EXPECT_EQ(lines(o.out)[1].substr(0, 14), "growing-0,ok,,");
}

TEST_F(CliRuns, IntervalsThatOverlapInTheStreamAreRefused) {
    file("intervals.csv", "start_access,warmup_accesses,timed_instructions,weight\n1000,500,3000,1\n2900,0,3000,1\n");
    const Output o = run(common("partial") + " --threads 2 --interval-file " + path("intervals.csv"));
    EXPECT_EQ(o.status, 2);
    EXPECT_NE(o.err.find("access 2900"), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("ends at access 3000"), std::string::npos) << o.err;
    EXPECT_EQ(lines(o.out).size(), 2u);  // the header and the layout that failed anyway
}

TEST_F(CliRuns, ATraceDamagedInTheMiddleNamesFrameAndByte) {
    write_trace("long.tst", 2'500'000, 1 << 20);
    const auto middle = std::filesystem::file_size(path("long.tst")) / 2;
    std::fstream stream(path("long.tst"), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(middle);
    const char byte = char(stream.get() ^ 0x20);
    stream.seekp(middle);
    stream.put(byte);
    stream.close();
    file("list2", path("bad,1.csv") + "\n" + path("growing-0.csv") + "\n");
    for (const char* threads : {"1", "2"}) {  // 2: found by the thread that reads ahead
        const Output o = run(common("partial", "list2", "long.tst") + " --threads " + threads);
        EXPECT_EQ(o.status, 2) << threads;
        EXPECT_NE(o.err.find("frame 1 at byte "), std::string::npos) << o.err;
        ASSERT_EQ(lines(o.out).size(), 2u) << "what was known before stays";
        EXPECT_TRUE(lines(o.out)[1].starts_with("\"bad,1\",failed,"));
    }
}

TEST_F(CliRuns, SignalsKeepFinishedRows) {
    write_trace("long.tst", 1'200'000, 1 << 20);
    write_layouts("many", 40);
    for (int signal : {SIGINT, SIGTERM}) {
        const pid_t child = fork();
        if (child == 0) {
            const auto to = [&](const char* name, int fd) { dup2(open(path(name).c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), fd); };
            to("out", 1), to("err", 2);
            execl(TESSERA_SIM, "tessera-sim", "run", "--trace", path("long.tst").c_str(), "--platform", path("haswell.flat").c_str(),
                  "--layouts", path("many").c_str(), "--engine", "reference", "--threads", "2", nullptr);
            _exit(127);
        }
        const auto written = [&] { return std::filesystem::exists(path("out")) ? lines(read_text(path("out"), "output")).size() : 0; };
        for (int i = 0; i < 6000 && written() < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        kill(child, signal);
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
        const auto rows = lines(read_text(path("out"), "output"));
        EXPECT_GE(rows.size(), 3u);
        EXPECT_LT(rows.size(), 41u) << "the signal came after the end";
        for (size_t i = 1; i < rows.size(); ++i)
            EXPECT_EQ(std::count(rows[i].begin(), rows[i].end(), ','), 22) << "a torn row: " << rows[i];
        const std::string err = read_text(path("err"), "output");
        EXPECT_NE(err.find("with " + std::to_string(rows.size() - 1) + " of 40 layouts done"), std::string::npos) << err;
        std::filesystem::remove(path("out"));
    }
}

}  // namespace
}  // namespace tessera::sim::testing
