// cli_test.cpp - tessera-sim as its callers see it: rows, failed rows, refusals, exit statuses.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/platform.h"
#include "base/text.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

struct Output {
    int status;
    std::string out, err;
};

class Cli : public ::testing::Test {
protected:
    void SetUp() override {
        folder = std::filesystem::temp_directory_path() / ("tessera-sim-test-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder);
        write_trace();
        Platform p = haswell();
        std::string flat;
        for (const PlatformKey& row : platform_keys()) flat += std::string(row.key) + " = " + (row.word ? row.word(p) : std::to_string(row.field(p))) + "\n";
        file("haswell.flat", flat);
        file("growing-0.csv", "type,pageSize,startOffset,endOffset\nmmap,-1,0,67108864\n");
        file("growing-8.csv", "type,pageSize,startOffset,endOffset\nmmap,-1,0,67108864\nmmap,2097152,0,67108864\n");
        file("bad,1.csv", "type,pageSize,startOffset,endOffset\nmmap,2097152,0,4096\n");
        file("list", path("growing-0.csv") + "\n" + path("bad,1.csv") + "\n" + path("growing-8.csv") + "\n");
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::string path(const std::string& name) const { return (folder / name).string(); }
    void file(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

    void write_trace() const {
        auto writer = trace::Writer::create(path("trace.tst"));
        trace::StaticBlock block;
        block.pc = 0x401000;
        block.insns = {insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1), insn(trace::InsnKind::alu, reg(2), reg(2))};
        block.slots = {{0, 0, 8}};
        const uint32_t id = writer.add_block(block);
        std::mt19937_64 random(8);
        for (int i = 0; i < 50000; ++i) {
            const uint64_t address = anon_base + random() % (64 << 20) / 8 * 8;
            const uint8_t load = 0;
            writer.append(id, &address, &load, 1);
        }
        trace::Header header;
        header.program = "random reads";
        header.origin = "qemu";
        header.pools = {{trace::PoolKind::heap, heap_base, 64 << 20, 0}, {trace::PoolKind::anon, anon_base, 64 << 20, 64 << 20}};
        writer.finish(header);
    }

    Output run(const std::string& arguments) const {
        const std::string command = std::string(TESSERA_SIM) + " " + arguments + " >" + path("out") + " 2>" + path("err");
        const int status = std::system(command.c_str());
        return {WEXITSTATUS(status), read_text(path("out"), "output"), read_text(path("err"), "output")};
    }
    std::string common(const std::string& engine) const {
        return "run --trace " + path("trace.tst") + " --platform " + path("haswell.flat") + " --layouts " + path("list") + " --engine " + engine;
    }

    std::filesystem::path folder;
};

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    for (std::string_view line : split(text, '\n'))
        if (!line.empty()) all.emplace_back(line);
    return all;
}

TEST_F(Cli, RunGivesARowALayoutAndABadLayoutStopsNothing) {
    const Output o = run(common("timing"));
    EXPECT_EQ(o.status, 0) << o.err;
    const auto rows = lines(o.out);
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(std::count(rows[0].begin(), rows[0].end(), ','), 19);
    EXPECT_TRUE(rows[1].starts_with("\"bad,1\",failed,")) << rows[1];
    EXPECT_NE(rows[1].find("multiple of the page size"), std::string::npos);
    EXPECT_TRUE(rows[2].starts_with("growing-0,ok,,")) << rows[2];
    EXPECT_TRUE(rows[3].starts_with("growing-8,ok,,")) << rows[3];
    EXPECT_NE(o.err.find("progress 100000 100000 accesses x layouts"), std::string::npos) << o.err;
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
    const Output o = run("profile --trace " + path("trace.tst") + " --platform " + path("haswell.flat") + " --out " + path("misses.csv"));
    ASSERT_EQ(o.status, 0) << o.err;
    const auto rows = lines(read_text(path("misses.csv"), "profile"));
    EXPECT_EQ(rows[0], "pool,offset_bytes,stlb_misses");
    ASSERT_EQ(rows.size(), 33u);
    EXPECT_TRUE(rows[2].starts_with("mmap,2097152,"));
    uint64_t sum = 0;
    for (size_t i = 1; i < rows.size(); ++i) sum += *parse_unsigned(split(rows[i], ',')[2]);
    const std::string text = lines(run(common("partial")).out)[2];
    EXPECT_EQ(std::to_string(sum), split(text, ',')[6]);
}

TEST_F(Cli, WrongRequestsExitWith2AndSayWhatToDo) {
    file("damaged.tst", "not a trace");
    file("short.flat", "walker.count = 1\n");
    const std::string tail = " --platform " + path("haswell.flat") + " --layouts " + path("list") + " --engine partial";
    for (const std::string& arguments :
         {std::string("fly"), std::string("run"), common("magic"), common("partial") + " --sampling some", common("partial") + " --group 0",
          common("partial") + " --speed 9", "run --trace " + path("damaged.tst") + tail, "run --trace " + path("absent.tst") + tail,
          "run --trace " + path("trace.tst") + " --platform " + path("short.flat") + " --layouts " + path("list") + " --engine partial"}) {
        const Output o = run(arguments);
        EXPECT_EQ(o.status, 2) << arguments;
        EXPECT_NE(o.err.find("what to do"), std::string::npos) << arguments << "\n" << o.err;
        EXPECT_EQ(o.out, "") << arguments;
    }
    EXPECT_NE(run(common("magic")).err.find("partial, reference, timing"), std::string::npos);
}

TEST_F(Cli, TablesAreThere) {
    EXPECT_EQ(lines(run("keys").out).size(), platform_keys().size() + 1);
    EXPECT_EQ(lines(run("engines").out).size(), 3u);
    EXPECT_TRUE(run("cpuid").out.starts_with("{\n  \"vendor\""));
}

}  // namespace
}  // namespace tessera::sim::testing
