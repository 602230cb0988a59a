// The command tessera-os: exit status, output, the tables of show.
#include <sys/wait.h>

#include <array>

#include "programs.h"

namespace tests {
namespace {

struct Ended {
    int status;
    std::string text;
};

Ended tessera_os(const std::string &words) {
    std::FILE *pipe = popen((std::string(TESSERA_OS) + " " + words + " 2>&1").c_str(), "r");
    Ended found{0, ""};
    std::array<char, 4096> part;
    while (const size_t size = std::fread(part.data(), 1, part.size(), pipe)) found.text.append(part.data(), size);
    const int status = pclose(pipe);
    found.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return found;
}

class Command : public testing::Test {
protected:
    void SetUp() override {
        trace_ = Program().map(0, 2 * mb + 8192).store(0).load(2 * mb).store(2 * mb + 4096).call(EventKind::unmap, 0, 2 * mb).write();
        scenario_ = scratch("scenario.txt");
        log_ = scratch("log");
        std::ofstream(scenario_) << scenario_text();
    }
    void TearDown() override {
        for (const std::string &path : {trace_, scenario_, log_}) std::filesystem::remove(path);
    }
    Ended run() { return tessera_os("run --trace " + trace_ + " --scenario " + scenario_ + " --out " + log_); }
    std::string trace_, scenario_, log_;
};

TEST_F(Command, RunAndShow) {
    const Ended ran = run();
    EXPECT_EQ(ran.status, 0) << ran.text;
    expect_parts(ran.text, {"3 accesses", "2 calls", "3 faults"});
    expect_parts(tessera_os("show " + log_).text, {"scenario test", "page,2MB", "zero,4KB", "page,4KB", "unmap", "1 areas"});
    EXPECT_EQ(tessera_os("show " + log_ + " --csv kinds").text, "kind,page_size,faults\npage,2MB,1\npage,4KB,1\nzero,4KB,1\n");
    EXPECT_EQ(tessera_os("show " + log_ + " --csv areas").text, "pool,page,pages,rights,huge_pages\nmmap,512,2,rw-,default\n");
    EXPECT_EQ(tessera_os("show " + log_ + " --csv chunks").text, "least_pages,chunks,pages\n1,1,1\n512,1,512\n");
    const std::string sizes = tessera_os("show " + log_ + " --csv sizes").text;
    EXPECT_EQ(sizes, "block,pages_4kb,zero_pages_4kb,pages_2mb,areas,faults\n0,0,0,1,1,1\n1,0,1,1,1,2\n2,1,1,1,1,3\n3,1,1,0,1,3\n");
    const std::string records = tessera_os("show " + log_ + " --csv records").text;
    EXPECT_EQ(std::count(records.begin(), records.end(), '\n'),
              1 + 3 + 1 + 2 * 2 + 3 + 1);  // header, faults, unmap, calls begin and end, areas change (map; split, gone), areas
}

TEST_F(Command, ErrorsHaveAStatus) {
    EXPECT_EQ(tessera_os("").status, 2);
    EXPECT_EQ(tessera_os("walk").status, 2);
    EXPECT_EQ(tessera_os("run --trace " + trace_).status, 2);
    EXPECT_EQ(tessera_os("show " + trace_).status, 1);
    const auto size = std::filesystem::file_size(trace_);
    const Ended over = tessera_os("run --trace " + trace_ + " --scenario " + scenario_ + " --out " + trace_);
    EXPECT_EQ(over.status, 2);
    expect_parts(over.text, {"--out", trace_, "--trace"});
    EXPECT_EQ(std::filesystem::file_size(trace_), size);
    EXPECT_EQ(tessera_os("run --trace /no/trace --scenario " + scenario_ + " --out " + log_).status, 2);
    EXPECT_EQ(run().status, 0);
    const Ended wrong = tessera_os("show " + log_ + " --csv pictures");
    EXPECT_EQ(wrong.status, 2);
    expect_parts(wrong.text, {"pictures", "records, faults, kinds, sizes, areas, chunks"});
}

TEST_F(Command, AnErrorLeavesTheOldLog) {
    ASSERT_EQ(run().status, 0);
    const auto size = std::filesystem::file_size(log_);
    std::ofstream(scenario_) << scenario_text({{"memory_bytes", "16777216"}, {"fragmentation.index", "extfrag-index"}});
    EXPECT_NE(run().status, 0);
    EXPECT_EQ(std::filesystem::file_size(log_), size);
}

}  // namespace
}  // namespace tests
