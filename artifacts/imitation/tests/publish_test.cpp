// A published file is on the disk under its name; an error leaves the old one.
#include "base/publish.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "publishing.h"

namespace {

namespace fs = std::filesystem;

class Publishing : public testing::Test {
protected:
    const fs::path folder_ = fs::path(testing::TempDir()) / ("publish-" + std::to_string(getpid()));
    const std::string file_ = folder_ / "file", temporary_ = folder_ / "file.tmp";

    void SetUp() override {
        fs::create_directories(folder_);
        std::ofstream(file_) << "old";
    }
    void TearDown() override { fs::remove_all(folder_); }
    bool publish(const std::string &target) const {
        std::FILE *file = std::fopen(temporary_.c_str(), "wb");
        return std::fputs("new", file) >= 0 && publish_file(file, temporary_.c_str(), target.c_str());
    }
    std::string content() const {
        std::ifstream file(file_);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

TEST_F(Publishing, BytesThenNameThenFolder) {
    publishing::watch();
    ASSERT_TRUE(publish(file_));
    EXPECT_EQ(publishing::calls, (std::vector<std::string>{"sync " + temporary_, "rename " + file_, "sync " + folder_.string()}));
    EXPECT_EQ(content(), "new");
}

TEST_F(Publishing, ANameWithoutAFolderIsInTheCurrentOne) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    publishing::watch();
    EXPECT_TRUE(publish("file"));
    fs::current_path(before);
    ASSERT_EQ(publishing::calls.size(), 3u);
    EXPECT_EQ(publishing::calls[2], "sync " + folder_.string());
}

TEST_F(Publishing, AnErrorLeavesTheOldFileOrTheNewOneAndNoOther) {
    for (const size_t failing : {0u, 1u, 2u}) {
        publishing::watch(failing);
        errno = 0;
        EXPECT_FALSE(publish(file_));
        EXPECT_EQ(errno, EIO);
        EXPECT_EQ(content(), failing < 2 ? "old" : "new");
        EXPECT_FALSE(fs::exists(temporary_));
    }
    publishing::watch();
    EXPECT_FALSE(publish(folder_ / "none" / "file"));
    EXPECT_EQ(errno, ENOENT);
}

}  // namespace
