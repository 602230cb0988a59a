// Disk models against closed forms.
#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "base/random.h"
#include "disk/disk.h"
}

namespace {

struct Disk {
    explicit Disk(const std::string &text) {
        if (!disk_create(&disk, text.c_str(), &failure)) broken = true;
    }
    Disk(const Disk &) = delete;
    ~Disk() { disk_destroy(&disk); }
    uint64_t read(uint64_t now, uint64_t page, uint64_t pages = 1) { return disk_read(&disk, now, page * 4096, pages * 4096); }
    uint64_t write(uint64_t now, uint64_t page, uint64_t pages = 1) { return disk_write(&disk, now, page * 4096, pages * 4096); }
    ::disk disk{};
    error failure{};
    bool broken = false;
};

// 2 channels, 3 dies each; a page takes 4096 / 1024 MB/s = 4000 ns on a channel.
const std::string small = "flash:channels=2,dies=3,tR=50000,tPROG=300000,bus=1024,overhead=100";
constexpr uint64_t tr = 50000, prog = 300000, carry = 4000, overhead = 100;

TEST(Disk, Constant) {
    Disk d("constant:read=7,write=9");
    ASSERT_FALSE(d.broken);
    EXPECT_EQ(d.read(100, 5, 1000), 107u);
    EXPECT_EQ(d.read(100, 5), 107u);
    EXPECT_EQ(d.write(100, 5), 109u);
    EXPECT_EQ(d.disk.counts.reads, 2u);
    EXPECT_EQ(d.disk.counts.read_ns, 14u);
    EXPECT_EQ(d.disk.counts.read_bytes, 1001u * 4096);
}

TEST(Disk, OnePageOfAnIdleFlash) {
    Disk d(small);
    ASSERT_FALSE(d.broken);
    EXPECT_EQ(d.read(1000, 17), 1000 + tr + carry + overhead);
    EXPECT_EQ(d.write(10000000, 17), 10000000 + carry + prog + overhead);
}

TEST(Disk, TheSameDieServesOneAfterTheOther) {
    Disk d(small);
    for (uint64_t i = 1; i <= 20; ++i) EXPECT_EQ(d.read(0, 6 * i), i * (tr + carry) + overhead) << i;      // channel 0, die 0
    Disk e(small);
    for (uint64_t i = 1; i <= 20; ++i) EXPECT_EQ(e.write(0, 6 * i), i * (carry + prog) + overhead) << i;
}

TEST(Disk, DiesOfAChannelOverlapButForTheTransfer) {
    Disk d(small);
    EXPECT_EQ(d.read(0, 0), tr + carry + overhead);
    EXPECT_EQ(d.read(0, 2), tr + 2 * carry + overhead);
    EXPECT_EQ(d.read(0, 4), tr + 3 * carry + overhead);
    EXPECT_EQ(d.read(0, 1), tr + carry + overhead);          // the other channel
}

TEST(Disk, ARequestEndsWithItsLastPage) {
    Disk d(small);
    EXPECT_EQ(d.read(0, 0, 6), tr + 3 * carry + overhead);   // one page for each die
    Disk e(small);
    // 12 pages: each die has two; the second round starts when the first page of the die has left, and ends a transfer after the other.
    EXPECT_EQ(e.read(0, 0, 12), 2 * tr + 4 * carry + overhead);
    EXPECT_EQ(disk_read(&e.disk, 100000000, 4095, 2) - 100000000, tr + carry + overhead);  // two pages for two bytes, on two channels
}

TEST(Disk, ABusyChannelLimitsTheThroughput) {
    // 64 dies behind one channel: transfers of 4000 ns follow each other when tR is hidden.
    Disk d("flash:channels=1,dies=64,tR=50000,bus=1024,overhead=0");
    EXPECT_EQ(d.read(0, 0, 6400), tr + 6400 * carry);
}

TEST(Disk, AnOpenQueueOfRandomReadsIsBoundedByItsParts) {
    Disk d(small);
    uint64_t random = 1, last = 0;
    for (int i = 0; i < 6000; ++i) last = std::max(last, d.read(0, random_below(&random, 1 << 20)));
    // 1000 pages for each die on the average: at least that many services, at most the sum of a channel's.
    EXPECT_GE(last, 1000 * (tr + carry));
    EXPECT_LE(last, 1200 * (tr + carry) + overhead);
}

TEST(Disk, TimesDoNotGoBackwards) {
    Disk d("flash");
    uint64_t random = 7, now = 0;
    for (int i = 0; i < 5000; ++i) {
        now += random_below(&random, 20000);
        const uint64_t page = random_below(&random, 10000), pages = 1 + random_below(&random, 40);
        EXPECT_GT(random_below(&random, 2) ? d.read(now, page, pages) : d.write(now, page, pages), now);
    }
}

TEST(Disk, EachModelStartsWithItsDefaults) {
    for (const disk_model *const *model = disk_models; *model; ++model) {
        Disk d((*model)->name);
        EXPECT_FALSE(d.broken) << (*model)->name;
        EXPECT_LE((*model)->parameters, static_cast<size_t>(DISK_MOST_PARAMETERS));
        EXPECT_GT(d.read(5, 0), 5u);
    }
}

TEST(Disk, RefusesWhatItDoesNotKnow) {
    const struct {
        std::string text, found;
    } rows[] = {{"tape", "constant, flash"},      {"flash:speed=3", "channels, dies"},
                {"flash:dies", "dies"},           {"flash:dies=", "dies"},
                {"flash:dies=x", "dies"},         {"flash:dies=0", "between 1 and 1024"},
                {"flash:dies=1025", "between 1"}, {"constant:read=1,", "read, write"},
                {"", "constant, flash"},          {"flash:dies=-1", "dies"}};
    for (const auto &row : rows) {
        Disk d(row.text);
        EXPECT_TRUE(d.broken) << row.text;
        EXPECT_NE(std::string(d.failure.found).find(row.found), std::string::npos) << row.text << ": " << d.failure.found;
        EXPECT_NE(d.failure.remedy[0], '\0');
    }
}

}  // namespace
