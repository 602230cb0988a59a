// A replaced file is on the disk under its name; an error leaves the old one.
#include "tessera/trace/file_replacement.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "publishing.h"
#include "tessera/trace/trace.h"

namespace {

namespace fs = std::filesystem;
using tessera::trace::FileReplacement;

class FileReplacements : public testing::Test {
protected:
    const fs::path folder_ = fs::path(testing::TempDir()) / ("replacement-" + std::to_string(getpid()));
    const fs::path file_ = folder_ / "trace.tst";

    void SetUp() override {
        fs::create_directories(folder_);
        std::ofstream(file_) << "old";
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string content() const {
        std::ifstream file(file_);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void replace() const {
        FileReplacement replacement(file_);
        std::ofstream(replacement.path()) << "new";
        replacement.commit();
    }
};

TEST_F(FileReplacements, BytesThenNameThenFolder) {
    publishing::watch();
    replace();
    ASSERT_EQ(publishing::calls.size(), 3u);
    EXPECT_EQ(publishing::calls[0].rfind("sync " + file_.string() + ".", 0), 0u) << publishing::calls[0];
    EXPECT_EQ(publishing::calls[1], "rename " + file_.string());
    EXPECT_EQ(publishing::calls[2], "sync " + folder_.string());
    EXPECT_EQ(content(), "new");
}

TEST_F(FileReplacements, AnErrorLeavesTheOldFileOrTheNewOneAndNoOther) {
    for (const size_t failing : {0u, 1u, 2u}) {
        publishing::watch(failing);
        try {
            replace();
            ADD_FAILURE() << failing;
        } catch (const tessera::trace::TraceError& error) {
            EXPECT_NE(std::string(error.what()).find(file_.string() + ": Input/output error\n  what to do: "), std::string::npos);
        }
        EXPECT_EQ(content(), failing < 2 ? "old" : "new");
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
    }
    publishing::watch();
}

}  // namespace
