// cli_variants_test.cpp - `tessera-sim run --variants`: rows, their order, variants that fail, and the requests that are refused.
#include <algorithm>

#include "cli_fixture.h"

namespace tessera::sim::testing {
namespace {

class CliVariants : public CliFixture {
protected:
    void SetUp() override {
        CliFixture::SetUp();
        for (const char* design : {"conventional", "thp", "noop", "anchor", "rmm", "hvc-delayed-tlb"}) {
            Platform p = haswell();
            p.mmu_design = design;
            file(std::string(design) + ".flat", flat(p));
        }
        file("m-1.csv", "epoch,pool,page,frame,pages,page_size\n0,mmap,0,512,16384,4KB\n");
        file("m-2.csv", "epoch,pool,page,frame,pages,page_size\n0,mmap,0,0,16384,2MB\n");
        file("maps", path("m-1.csv") + "\n" + path("m-2.csv") + "\n");
    }
    /// A list of platforms that have their designs' names as labels.
    std::string variants(const std::vector<std::string>& names) const {
        std::string text;
        for (const std::string& name : names) text += name + "\t" + path(name + ".flat") + "\n";
        file("variants", text);
        return " --variants " + path("variants");
    }
    std::string begin(const std::string& engine) const { return "run --trace " + path("trace.tst") + " --engine " + engine; }
    std::string alone(const std::string& name, const std::string& rest) const {
        return run(begin("partial") + " --platform " + path(name + ".flat") + rest).out;
    }
};

TEST_F(CliVariants, EachRowIsThatOfThePlatformAlone) {
    for (const std::string plan : {" --sampling full", " --sampling tlbs", " --intervals 3 --warmup 500 --timed 1000"}) {
        const std::string rest = " --mappings " + path("maps") + plan;
        const Output o = run(begin("partial") + variants({"thp", "anchor", "rmm"}) + rest + " --designs-out " + path("d") +
                             " --interval-out " + path("u"));
        ASSERT_EQ(o.status, 0) << o.err;
        std::vector<std::string> expected = {"variant," + lines(alone("thp", rest))[0]};
        for (size_t mapping : {1, 2})
            for (const std::string name : {"thp", "anchor", "rmm"}) expected.push_back(name + "," + lines(alone(name, rest))[mapping]);
        EXPECT_EQ(lines(o.out), expected) << plan;
        const auto structures = lines(read_text(path("d"), "structures"));
        EXPECT_TRUE(structures[0].starts_with("variant,layout,structure,")) << structures[0];
        EXPECT_TRUE(structures[1].starts_with("anchor,m-1,regular,")) << structures[1];
        const size_t units = plan.find("intervals") != std::string::npos ? 3 : plan.find("full") != std::string::npos ? 1 : 0;
        EXPECT_EQ(lines(read_text(path("u"), "units")).size(), 1 + 6 * units);
    }
}

TEST_F(CliVariants, ThreadsAndGroupsChangeNothing) {
    write_layouts("many", 11);
    const std::string rest = variants({"noop", "conventional", "thp"}) + " --layouts " + path("many") + " --sampling tlbs";
    const Output once = run(begin("partial") + rest);
    ASSERT_EQ(once.status, 0) << once.err;
    const auto rows = lines(once.out);
    ASSERT_EQ(rows.size(), 34u);
    EXPECT_TRUE(rows[1].starts_with("conventional,w-0,ok,")) << "the lanes come first";
    EXPECT_TRUE(rows[12].starts_with("noop,w-0,ok,")) << rows[12];
    EXPECT_TRUE(rows[13].starts_with("thp,w-0,ok,")) << rows[13];
    for (const char* way : {" --threads 2", " --threads 3 --group 4", " --group 1"})
        EXPECT_EQ(run(begin("partial") + rest + way).out, once.out) << way;
}

TEST_F(CliVariants, WithoutUnitsCAndRAreEmpty) {
    const Output o = run(common("timing") + " --sampling tlbs");
    ASSERT_EQ(o.status, 0) << o.err;
    const auto row = lines(o.out)[1];  // split() gives views of it
    const auto cell = split(row, ',');
    const auto full = lines(run(common("timing")).out)[1];
    const auto exact = split(full, ',');
    for (size_t i : {5, 6, 9, 10}) EXPECT_EQ(cell[i], exact[i]) << i;        // H, M, instructions, accesses
    EXPECT_EQ(cell[11], "0");                                                // timed instructions
    for (size_t i : {3, 4, 7, 8, 12, 15, 16, 19, 22}) EXPECT_EQ(cell[i], "") << i;
}

TEST_F(CliVariants, AVariantThatRefusesHasFailedRowsAndTheOthersGoOn) {
    file("broken.flat", "walker.count = 1\n");
    const std::string list = variants({"hvc-delayed-tlb", "thp", "broken", "absent", "noop"});
    const Output o = run(begin("partial") + list + " --mappings " + path("maps") + " --sampling tlbs");
    ASSERT_EQ(o.status, 0) << o.err;
    const auto rows = lines(o.out);
    ASSERT_EQ(rows.size(), 11u);
    EXPECT_TRUE(rows[1].starts_with("hvc-delayed-tlb,m-1,failed,")) << rows[1];
    EXPECT_NE(rows[1].find("hvc-delayed-tlb with samples"), std::string::npos) << rows[1];
    EXPECT_TRUE(rows[2].starts_with("thp,m-1,ok,")) << rows[2];
    EXPECT_TRUE(rows[3].starts_with("broken,m-1,failed,")) << rows[3];
    EXPECT_TRUE(rows[4].starts_with("absent,m-1,failed,")) << rows[4];
    EXPECT_TRUE(rows[10].starts_with("noop,m-2,ok,")) << rows[10];
    // A design that needs a mapping, under a layout.
    const Output layouts = run(begin("partial") + variants({"anchor", "thp"}) + " --layouts " + path("list"));
    ASSERT_EQ(layouts.status, 0) << layouts.err;
    const auto under = lines(layouts.out);
    ASSERT_EQ(under.size(), 7u);
    EXPECT_TRUE(under[1].starts_with("anchor,growing-0,failed,")) << under[1];
    EXPECT_TRUE(under[2].starts_with("thp,growing-0,ok,")) << under[2];
    EXPECT_TRUE(under[4].starts_with("thp,\"bad,1\",failed,")) << under[4];
}

TEST_F(CliVariants, WrongListsAreRefused) {
    file("twice", "a\t" + path("thp.flat") + "\na\t" + path("noop.flat") + "\n");
    file("spaces", "a " + path("thp.flat") + "\n");
    file("empty", "\n");
    const std::string rest = " --mappings " + path("maps");
    for (const std::string& options :
         {" --variants " + path("twice"), " --variants " + path("spaces"), " --variants " + path("empty"), " --variants " + path("nowhere"),
          variants({"thp"}) + " --platform " + path("thp.flat"), std::string()}) {
        const Output o = run(begin("partial") + options + rest);
        EXPECT_EQ(o.status, 2) << options;
        EXPECT_NE(o.err.find("what to do"), std::string::npos) << o.err;
        EXPECT_EQ(o.out, "") << options;
    }
    EXPECT_EQ(run(begin("partial") + variants({"thp"}) + rest + " --interval-out " + path("thp.flat")).status, 2)
        << "an input is not overwritten";
}

}  // namespace
}  // namespace tessera::sim::testing
