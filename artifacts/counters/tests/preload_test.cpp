#include "counters/preload.h"

#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tessera::counters;
using tessera::Problem;
namespace fs = std::filesystem;

namespace {

/// A runtime folder of this user, and a library below a folder with spaces.
class Preload : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/preload-test-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        base_ = name;
        fs::create_directories(base_ + "/runtime");
        fs::create_directories(base_ + "/a folder with spaces");
        library_ = base_ + "/a folder with spaces/libx.so";
        std::ofstream(library_) << "x";
        chmod((base_ + "/runtime").c_str(), 0700);
        setenv("XDG_RUNTIME_DIR", (base_ + "/runtime").c_str(), 1);
        folder_ = base_ + "/runtime/tessera-preload-" + std::to_string(geteuid());
    }
    void TearDown() override { fs::remove_all(base_); }

    std::string base_, library_, folder_;
};

TEST_F(Preload, APathThatTheLinkerReadsWholeStaysAndNothingIsMade) {
    std::string out;
    EXPECT_FALSE(preloadable("/usr/lib/libx.so", &out));
    EXPECT_EQ(out, "/usr/lib/libx.so");
    EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(Preload, ALinkLeadsToTheLibraryAndIsUsedAgain) {
    std::string out, again;
    ASSERT_FALSE(preloadable(library_, &out));
    EXPECT_EQ(out.find_first_of(" :$"), std::string::npos);
    EXPECT_EQ(out.compare(0, folder_.size() + 1, folder_ + "/"), 0) << out;
    EXPECT_EQ(out.substr(out.size() - 8), "-libx.so");
    EXPECT_EQ(fs::read_symlink(out), library_);
    ASSERT_FALSE(preloadable(library_, &again));
    EXPECT_EQ(out, again);
    struct stat status = {};
    ASSERT_EQ(lstat(folder_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Preload, EachCharacterThatSplitsGetsALink) {
    for (const char* name : {"a b.so", "a:b.so", "$ORIGIN.so"}) {
        const std::string library = base_ + "/" + name;
        std::string out;
        ASSERT_FALSE(preloadable(library, &out)) << name;
        EXPECT_EQ(out.find_first_of(" :$"), std::string::npos) << out;
        EXPECT_EQ(fs::read_symlink(out), library);
    }
}

TEST_F(Preload, ManyAtOnceGetTheSameLink) {
    std::vector<std::string> found(8);
    std::vector<std::thread> threads;
    for (std::string& out : found) threads.emplace_back([&] { EXPECT_FALSE(preloadable(library_, &out)); });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& out : found) EXPECT_EQ(out, found[0]);
}

TEST_F(Preload, AFolderThatOthersCanReadIsRefused) {
    for (const mode_t mode : {0701, 0720, 0755, 0777, 0500}) {
        fs::create_directories(folder_);
        chmod(folder_.c_str(), mode);
        std::string out;
        const Problem problem = preloadable(library_, &out);
        EXPECT_EQ(problem.asked, "folder " + folder_) << mode;
        EXPECT_NE(problem.found.find("0700"), std::string::npos) << problem.found;
        EXPECT_NE(problem.remedy.find("XDG_RUNTIME_DIR"), std::string::npos) << problem.remedy;
        chmod(folder_.c_str(), 0700);
        fs::remove_all(folder_);
    }
}

TEST_F(Preload, ALinkOrAFileInPlaceOfTheFolderIsRefused) {
    fs::create_directories(base_ + "/elsewhere");
    chmod((base_ + "/elsewhere").c_str(), 0700);
    fs::create_directory_symlink(base_ + "/elsewhere", folder_);
    std::string out;
    EXPECT_EQ(preloadable(library_, &out).asked, "folder " + folder_);
    EXPECT_TRUE(fs::is_empty(base_ + "/elsewhere"));
    fs::remove(folder_);
    std::ofstream(folder_) << "x";
    EXPECT_EQ(preloadable(library_, &out).asked, "folder " + folder_);
}

TEST_F(Preload, AFolderOfAnotherUserIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a folder of another user";
    fs::create_directories(folder_);
    chmod(folder_.c_str(), 0700);
    ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
    std::string out;
    EXPECT_NE(preloadable(library_, &out).found.find("user 65534"), std::string::npos);
}

TEST_F(Preload, AnotherFileInPlaceOfTheLinkIsRefused) {
    std::string out;
    ASSERT_FALSE(preloadable(library_, &out));
    fs::remove(out);
    fs::create_symlink("/tmp/other.so", out);
    std::string again;
    const Problem problem = preloadable(library_, &again);
    EXPECT_EQ(problem.asked, "link " + out);
    EXPECT_NE(problem.found.find("/tmp/other.so"), std::string::npos) << problem.found;
    fs::remove(out);
    std::ofstream(out) << "x";
    EXPECT_EQ(preloadable(library_, &again).asked, "link " + out);
}

TEST_F(Preload, ARuntimeFolderThatOthersWriteToIsNotUsed) {
    for (const std::string& wrong : {std::string("relative"), std::string(), base_ + "/none", base_ + "/a folder with spaces"}) {
        setenv("XDG_RUNTIME_DIR", wrong.c_str(), 1);
        std::string out;
        ASSERT_FALSE(preloadable(library_, &out)) << wrong;
        EXPECT_EQ(out.compare(0, 21, "/tmp/tessera-preload-"), 0) << out;
        fs::remove(out);
    }
    chmod((base_ + "/runtime").c_str(), 0777);
    setenv("XDG_RUNTIME_DIR", (base_ + "/runtime").c_str(), 1);
    std::string out;
    ASSERT_FALSE(preloadable(library_, &out));
    EXPECT_EQ(out.compare(0, 21, "/tmp/tessera-preload-"), 0) << out;
    fs::remove(out);
}

}  // namespace
