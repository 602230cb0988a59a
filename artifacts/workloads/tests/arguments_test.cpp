// The declared argument table: parsing, bounds at N-1 and N, messages that list the valid names.
#include "common/arguments.h"

#include <gtest/gtest.h>

#include "common/error.h"

using namespace tessera::workloads;

namespace {

const std::vector<Parameter> kTable = {
    {"size", Kind::size, "1MB", 4096, 1048576, "bytes"}, {"reads", Kind::count, "10", 1, 100, "reads"},
    {"tolerance", Kind::real, "0.5", 0, 1, "tolerance"}, {"graph", Kind::choice, "kronecker", 0, 0, "graph", {"kronecker", "uniform"}},
    {"sizes", Kind::counts, "4,8", 2, 64, "sizes"},      {"secret", Kind::flag, "", 0, 0, "for tests", {}, true},
};

Arguments parse(std::vector<const char*> words) {
    words.insert(words.begin(), "t");
    return Arguments("t", kTable, static_cast<int>(words.size()), words.data());
}

std::string complaint(std::vector<const char*> words) {
    try {
        parse(std::move(words));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Arguments, DefaultsHoldWhereNothingIsGiven) {
    const Arguments arguments = parse({});
    EXPECT_EQ(arguments.count("size"), 1048576u);
    EXPECT_EQ(arguments.count("reads"), 10u);
    EXPECT_DOUBLE_EQ(arguments.real("tolerance"), 0.5);
    EXPECT_EQ(arguments.text("graph"), "kronecker");
    EXPECT_FALSE(arguments.flag("secret"));
}

TEST(Arguments, BothSpellings) {
    const Arguments arguments = parse({"--size=8KB", "--reads", "7", "--secret"});
    EXPECT_EQ(arguments.count("size"), 8192u);
    EXPECT_EQ(arguments.count("reads"), 7u);
    EXPECT_TRUE(arguments.flag("secret"));
}

TEST(Arguments, BoundsAreInclusive) {
    EXPECT_EQ(complaint({"--reads", "1"}), "");
    EXPECT_EQ(complaint({"--reads", "100"}), "");
    EXPECT_NE(complaint({"--reads", "0"}).find("out of bounds"), std::string::npos);
    EXPECT_NE(complaint({"--reads", "101"}).find("from 1 to 100"), std::string::npos);
    EXPECT_NE(complaint({"--size", "4095"}).find("from 4096 to 1048576"), std::string::npos);
}

TEST(Arguments, ListsOfCounts) {
    EXPECT_EQ(parse({}).counts("sizes"), (std::vector<uint64_t>{4, 8}));
    EXPECT_EQ(parse({"--sizes", "64"}).counts("sizes"), (std::vector<uint64_t>{64}));
    EXPECT_EQ(parse({"--sizes=2,64,3"}).counts("sizes"), (std::vector<uint64_t>{2, 64, 3}));
    EXPECT_NE(complaint({"--sizes", "2,65"}).find("'65' is out of bounds"), std::string::npos);
    EXPECT_NE(complaint({"--sizes", "2,"}).find("not a non-negative integer"), std::string::npos);
    EXPECT_NE(complaint({"--sizes", ""}).find("not a non-negative integer"), std::string::npos);
}

TEST(Arguments, MistakesAreNamed) {
    const struct {
        std::vector<const char*> words;
        const char* said;
    } cases[] = {
        {{"--sise", "4KB"}, "use one of: --size, --reads, --tolerance, --graph, --sizes"},
        {{"size"}, "arguments start with --"},
        {{"--size"}, "its value is missing"},
        {{"--reads", "1", "--reads", "2"}, "given twice"},
        {{"--secret=1"}, "takes no value"},
        {{"--graph", "ring"}, "use one of: kronecker, uniform"},
        {{"--reads", "ten"}, "t: --reads: 'ten' is not a non-negative integer"},
    };
    for (const auto& mistake : cases) EXPECT_NE(complaint(mistake.words).find(mistake.said), std::string::npos) << complaint(mistake.words);
}

TEST(Arguments, HelpListsAllButTheHidden) {
    const std::string help = parse({"--help"}).help("a test");
    EXPECT_TRUE(parse({"--help"}).help_asked());
    EXPECT_NE(help.find("--size (default 1MB)"), std::string::npos);
    EXPECT_NE(help.find("{kronecker, uniform}"), std::string::npos);
    EXPECT_EQ(help.find("secret"), std::string::npos);
}

}  // namespace
