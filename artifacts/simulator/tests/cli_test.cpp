// cli_test.cpp - the command line of tessera-sim: rows, failed rows, error messages, exit statuses.
#include <algorithm>

#include "cli_fixture.h"
#include "engine/engine.h"
#include "mmu/components.h"

namespace tessera::sim::testing {
namespace {

class Cli : public CliFixture {};

TEST_F(Cli, RunGivesARowALayoutAndABadLayoutStopsNothing) {
    const Output o = run(common("timing"));
    EXPECT_EQ(o.status, 0) << o.err;
    const auto rows = lines(o.out);
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(std::count(rows[0].begin(), rows[0].end(), ','), 22);
    EXPECT_TRUE(rows[1].starts_with("growing-0,ok,,")) << rows[1];
    EXPECT_TRUE(rows[1].ends_with(",,,")) << "this platform has no instruction side: " << rows[1];
    EXPECT_TRUE(rows[2].starts_with("\"bad,1\",failed,")) << rows[2];
    EXPECT_NE(rows[2].find("[layout/alignment]"), std::string::npos);
    EXPECT_TRUE(rows[2].ends_with("," + std::string(19, ','))) << rows[2];
    EXPECT_TRUE(rows[3].starts_with("growing-8,ok,,")) << rows[3];
    EXPECT_NE(o.err.find("progress 100000 100000 "), std::string::npos) << o.err;
}

TEST_F(Cli, EnginesPrintTheSameHitsMissesAndWalkCycles) {
    const std::string plan = " --sampling units=4,warmup_accesses=2000,timed_instructions=3000 --group 1";
    const auto reference = lines(run(common("reference") + plan).out), timing = lines(run(common("timing") + plan).out),
               partial = lines(run(common("partial") + plan).out);
    EXPECT_EQ(reference, timing);
    ASSERT_EQ(partial.size(), timing.size());
    const auto tail = [](const std::string& row) {  // behind the two runtime columns
        const auto cells = split(row, ',');
        std::string text;
        for (size_t i = 5; i < cells.size(); ++i) text += std::string(cells[i]) + ",";
        return text;
    };
    for (size_t i = 2; i < timing.size(); ++i) EXPECT_EQ(tail(partial[i]), tail(timing[i]));
}

TEST_F(Cli, ProfileAddsUpToTheMissesOfThe4KbLayout) {
    write_trace("across.tst", 50000, 64 << 20, 4);  // one access in 512 crosses a page
    uint64_t sums[2] = {};
    for (const bool across : {false, true}) {
        const std::string trace = across ? "across.tst" : "trace.tst";
        const Output o = run("profile --trace " + path(trace) + " --platform " + path("haswell.flat") + " --out " + path("misses.csv"));
        ASSERT_EQ(o.status, 0) << o.err;
        const auto rows = lines(read_text(path("misses.csv"), "profile"));
        EXPECT_EQ(rows[0], "pool,offset_bytes,stlb_misses");
        ASSERT_EQ(rows.size(), 33u);
        EXPECT_TRUE(rows[2].starts_with("mmap,2097152,"));
        for (size_t i = 1; i < rows.size(); ++i) sums[across] += *whole_number(split(rows[i], ',')[2]);
        const std::string text = lines(run(common("partial", "list", trace)).out)[1];
        EXPECT_EQ(std::to_string(sums[across]), split(text, ',')[6]);
    }
    EXPECT_GT(sums[1], sums[0] + 60);
}

TEST_F(Cli, WrongRequestsExitWith2AndSayWhatToDo) {
    file("damaged.tst", "not a trace");
    file("short.flat", "walker.count = 1\n");
    file("twice", path("growing-0.csv") + "\n" + path("growing-0.csv") + "\n");
    const std::string tail = " --platform " + path("haswell.flat") + " --layouts " + path("list") + " --engine partial";
    for (const std::string& arguments :
         {std::string("fly"), std::string("run"), common("magic"), common("partial") + " --sampling some", common("partial") + " --group 0",
          common("partial") + " --speed 9", common("partial") + " --threads 0", common("partial") + " --group",
          common("partial") + " --sampling full --intervals 3", common("partial") + " --warmup 3", common("partial") + " --intervals 0",
          common("partial") + " --interval-file " + path("absent"), common("partial") + " --interval-out " + path("absent/x"),
          common("partial", "twice"), std::string("keys now"), "run --trace " + path("damaged.tst") + tail,
          "run --trace " + path("absent.tst") + tail,
          "run --trace " + path("trace.tst") + " --platform " + path("short.flat") + " --layouts " + path("list") + " --engine partial"}) {
        const Output o = run(arguments);
        EXPECT_EQ(o.status, 2) << arguments;
        EXPECT_NE(o.err.find("what to do"), std::string::npos) << arguments << "\n" << o.err;
        EXPECT_EQ(o.out, "") << arguments;
    }
    const std::string unknown = run(common("magic")).err;
    for (const EngineInfo& engine : engines()) EXPECT_NE(unknown.find(engine.name), std::string::npos) << unknown;
}

TEST_F(Cli, TablesAreThere) {
    size_t of_components = 0;  // keys of one component each, such as a branch predictor's; examples are in this program only
    for (const ComponentKind& kind : component_kinds())
        for (const ComponentInfo& info : kind.components)
            if (!info.name.starts_with("example-")) of_components += info.keys.size();
    EXPECT_GT(of_components, 0u);
    EXPECT_EQ(lines(run("keys").out).size(), platform_keys().size() + of_components + 1);
    EXPECT_EQ(lines(run("engines").out).size(), engines().size());
    EXPECT_TRUE(run("cpuid").out.starts_with("{\n  \"vendor\""));
}

TEST_F(Cli, CheckNamesTheKeysThatTookTheirDefaults) {
    Platform p = haswell();
    p.overlap = 0;
    std::string text = flat(p);
    file("full.flat", text);
    EXPECT_EQ(lines(run("check --platform " + path("full.flat")).out).size(), 1u);
    text.erase(text.find("core.overlap"), std::string("core.overlap = 0\n").size());
    file("short.flat", text);
    const Output o = run("check --platform " + path("short.flat"));
    EXPECT_EQ(o.status, 0) << o.err;
    ASSERT_EQ(lines(o.out).size(), 2u) << o.out;
    EXPECT_TRUE(lines(o.out)[0].starts_with("default: core.overlap = 1 (")) << o.out;
}

TEST_F(Cli, HelpNamesEveryCommandAndEveryOption) {
    const Output o = run("--help");
    EXPECT_EQ(o.status, 0);
    for (const char* word : {"run", "profile", "engines", "keys", "cpuid", "Example"})
        EXPECT_NE(o.out.find(word), std::string::npos) << word;
    for (const std::string command : {"blocks", "check", "profile"}) {
        const Output of_command = run(command + " --help");
        EXPECT_EQ(of_command.status, 0) << of_command.err;
        EXPECT_NE(of_command.out.find("tessera-sim " + command + " --"), std::string::npos) << of_command.out;
    }
    const Output of_run = run("run --trace x --help");
    EXPECT_EQ(of_run.status, 0);
    for (const char* word : {"--trace", "--platform", "--layouts", "--engine", "--sampling", "--intervals", "--warmup", "--timed",
                             "--interval-file", "--interval-out", "--threads", "--group", "Examples"})
        EXPECT_NE(of_run.out.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace tessera::sim::testing
