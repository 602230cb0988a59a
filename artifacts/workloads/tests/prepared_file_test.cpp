// Prepared files on disk: written in any order by threads, loaded, damaged, interrupted, and without room.
#include "common/prepared_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <numeric>
#include <vector>

#include "common/error.h"
#include "common/parallel.h"
#include "common/prepared_writer.h"
#include "common/rng.h"
#include "scratch_folder.h"

using namespace tessera::workloads;

namespace {

const Shape kShape{{"input", "test"}, {"scale", "5"}};
constexpr uint64_t kNumbers = 2 * kSumBytes / 4 + 12345;  // three checksums, reads of 16 MB end in it

std::vector<uint32_t> numbers() {
    std::vector<uint32_t> all(kNumbers);
    for (uint64_t i = 0; i < kNumbers; ++i) all[i] = static_cast<uint32_t>(mix64(9, i));
    return all;
}

class PreparedFiles : public ::testing::Test {
protected:
    /// Parts of 999 elements in any order, so that checksums are put together from several writes.
    PreparedWriter::Totals write(unsigned threads = 2) {
        const auto all = numbers();
        PreparedWriter writer(file_, kShape, 1 << 20);
        writer.lay_out({{"numbers", 4, kNumbers}, {"pair", 8, 2}});
        claim_in_parallel(threads, (kNumbers + 998) / 999, [&](uint64_t i) {
            const uint64_t first = i * 999;
            writer.write(0, first, all.data() + first, std::min<uint64_t>(999, kNumbers - first));
        });
        const uint64_t pair[] = {3, 4};
        writer.write(1, 0, pair, 2);
        return writer.finish();
    }

    template <class Work>
    std::string refusal(Work&& work, int expected_status) {
        try {
            work();
        } catch (const Error& error) {
            EXPECT_EQ(error.exit_status(), expected_status) << error.what();
            EXPECT_NE(std::string(error.what()).find("what to do: "), std::string::npos);
            return error.what();
        }
        return "accepted";
    }
    std::string opening(const Shape& shape, int expected_status) {
        return refusal([&] { PreparedFile("prog", file_, shape, Verify::yes); }, expected_status);
    }

    ScratchFolder folder_;
    const std::string file_ = folder_.path("data.prep");
};

TEST_F(PreparedFiles, AreLoadedAsTheyWereWritten) {
    const auto totals = write();
    EXPECT_EQ(totals.bytes, bytes_of(file_).size());
    EXPECT_FALSE(folder_.holds("data.prep.partial"));
    for (const Verify verify : {Verify::no, Verify::yes}) {
        const PreparedFile file("prog", file_, kShape, verify);
        const auto loaded = file.load<uint32_t>("memory", "numbers", kNumbers);
        const auto expected = numbers();
        ASSERT_EQ(loaded.size(), expected.size());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), loaded.data()));
        EXPECT_EQ(file.load<uint64_t>("memory", "pair")[1], 4u);
    }
    PreparedFile("prog", file_, kShape, Verify::yes).check_all(3);
}

TEST_F(PreparedFiles, AreTheSameWithAnyNumberOfThreads) {
    write(1);
    const std::string first = bytes_of(file_);
    for (const unsigned threads : {2u, 8u}) {
        write(threads);
        EXPECT_TRUE(first == bytes_of(file_)) << threads;
    }
}

TEST_F(PreparedFiles, AreStreamedInParts) {
    write();
    std::vector<uint32_t> buffer(kSumBytes / 4), all;
    const PreparedFile file("prog", file_, kShape, Verify::yes);
    file.stream("numbers", buffer.data(), buffer.size(), [&](uint64_t first, const uint32_t* part, uint64_t count) {
        EXPECT_EQ(first, all.size());
        all.insert(all.end(), part, part + count);
    });
    EXPECT_TRUE(all == numbers());
}

TEST_F(PreparedFiles, OneFlippedBitIsFoundWhereverItIs) {
    write();
    const std::string good = bytes_of(file_);
    const uint64_t pair = 4096 + (kNumbers * 4 + 4095) / 4096 * 4096;
    for (const uint64_t at : {uint64_t{4096}, 4096 + kSumBytes - 1, 4096 + kSumBytes, 4096 + kNumbers * 4 - 1, pair + 15}) {
        std::string damaged = good;
        damaged[at] ^= 0x10;
        write_bytes_to(file_, damaged);
        const auto check = [&] { PreparedFile("prog", file_, kShape, Verify::yes).check_all(2); };
        EXPECT_NE(refusal(check, kExitFailed).find(at < pair ? "'numbers'" : "'pair'"), std::string::npos) << at;
        const auto load = [&] {
            const PreparedFile file("prog", file_, kShape, Verify::yes);
            file.load<uint32_t>("memory", "numbers");
            file.load<uint64_t>("memory", "pair");
        };
        EXPECT_NE(refusal(load, kExitFailed).find("prog --prepare " + file_), std::string::npos) << at;
    }
    std::string damaged = good;
    damaged[good.size() - 1] ^= 1;  // the table of checksums
    write_bytes_to(file_, damaged);
    EXPECT_NE(opening(kShape, kExitFailed).find("table"), std::string::npos);
}

TEST_F(PreparedFiles, RefusesOtherArgumentsAndOtherFiles) {
    EXPECT_NE(opening(kShape, kExitUsage).find(file_), std::string::npos);  // missing
    write();
    const std::string said = opening({{"input", "test"}, {"scale", "6"}}, kExitUsage);
    EXPECT_NE(said.find("scale=6"), std::string::npos);
    EXPECT_NE(said.find("scale=5"), std::string::npos);
    std::string bytes = bytes_of(file_);
    bytes.resize(bytes.size() - 5000);
    write_bytes_to(file_, bytes);
    EXPECT_NE(opening(kShape, kExitFailed).find(std::to_string(bytes.size())), std::string::npos);
    EXPECT_NE(refusal([&] { PreparedFile("prog", folder_.path(""), kShape, Verify::no); }, kExitUsage), "accepted");
}

TEST_F(PreparedFiles, RefusesArraysThatAreNotThere) {
    write();
    const PreparedFile file("prog", file_, kShape, Verify::no);
    EXPECT_NE(refusal([&] { file.load<uint32_t>("memory", "letters"); }, kExitFailed).find("'letters'"), std::string::npos);
    EXPECT_NE(refusal([&] { file.load<uint32_t>("memory", "pair"); }, kExitFailed).find("expected 4"), std::string::npos);
    EXPECT_NE(refusal([&] { file.load<uint64_t>("memory", "pair", 3); }, kExitFailed).find("expected 3"), std::string::npos);
}

TEST_F(PreparedFiles, AnInterruptedPreparationIsOverwritten) {
    write_bytes_to(file_ + ".partial", std::string(3 * kSumBytes * 4, 'x'));  // longer than the file will be
    write();
    EXPECT_FALSE(folder_.holds("data.prep.partial"));
    PreparedFile("prog", file_, kShape, Verify::yes).check_all(1);
}

TEST_F(PreparedFiles, AFailureKeepsTheOldFileAndRemovesThePart) {
    write();
    const std::string old = bytes_of(file_);
    {
        PreparedWriter writer(file_, kShape, 1 << 20);
        EXPECT_TRUE(folder_.holds("data.prep.partial"));
    }
    EXPECT_FALSE(folder_.holds("data.prep.partial"));
    EXPECT_TRUE(old == bytes_of(file_));
}

TEST_F(PreparedFiles, TwoPreparationsOfOneFileDoNotMix) {
    PreparedWriter first(file_, kShape, 1 << 20);
    EXPECT_NE(refusal([&] { PreparedWriter(file_, kShape, 1 << 20); }, kExitFailed).find(".partial"), std::string::npos);
    EXPECT_TRUE(folder_.holds("data.prep.partial"));  // still the first one's
}

TEST_F(PreparedFiles, ADiskWithoutRoomIsNamedBeforeTheWork) {
    const std::string said = refusal([&] { PreparedWriter(file_, kShape, uint64_t{1} << 60); }, kExitFailed);
    EXPECT_NE(said.find("1152921504606846976"), std::string::npos);
    EXPECT_FALSE(folder_.holds("data.prep.partial"));
}

// A limit on the size of files stands for a disk that fills up meanwhile.
TEST_F(PreparedFiles, ADiskThatFillsUpLeavesNothing) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{kSumBytes, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string said = refusal([&] { write(); }, kExitFailed);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, ignored);
    EXPECT_NE(said.find("data.prep.partial"), std::string::npos);
    EXPECT_FALSE(folder_.holds("data.prep.partial"));
    EXPECT_FALSE(folder_.holds("data.prep"));
}

TEST_F(PreparedFiles, RefusesFoldersThatAreNotThere) {
    const std::string path = folder_.path("no/data.prep");
    EXPECT_NE(refusal([&] { PreparedWriter(path, kShape, 1); }, kExitUsage).find(path), std::string::npos);
    ASSERT_EQ(mkdir(file_.c_str(), 0777), 0);
    EXPECT_NE(refusal([&] { PreparedWriter(file_, kShape, 1); }, kExitUsage).find(file_), std::string::npos);
}

TEST(Parallel, RunsEveryPieceOnceAndRethrows) {
    for (const unsigned threads : {1u, 2u, 8u}) {
        std::vector<std::atomic<int>> runs(1000);
        claim_in_parallel(threads, runs.size(), [&](uint64_t i) { ++runs[i]; });
        for (const auto& count : runs) EXPECT_EQ(count, 1);
        EXPECT_THROW(claim_in_parallel(threads, 1000,
                                       [](uint64_t i) {
                                           if (i == 5) throw Error("a", "b", "c");
                                       }),
                     Error);
    }
}

}  // namespace
