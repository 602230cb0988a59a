// The file of the log: what is written is read, and damage is found.
#include <random>

#include "../log/coding.h"
#include "programs.h"

namespace tests {
namespace {

os::Header header() {
    os::Header h;
    h.scenario = "thp-always";
    h.scenario_text = "name = thp-always\nmemory_bytes = 1\n";
    h.trace_checksum = "abc";
    h.pools = {{0, heap_base, gb}, {1, anon_base, 2 * gb}};
    h.blocks = 7, h.accesses = 8, h.instructions = 9;
    h.notes = {{"fragmentation.Normal", "index 500 thousandths, 3 frames pinned"}};
    return h;
}

std::vector<os::Record> random_records(uint64_t seed, size_t count) {
    std::mt19937_64 random(seed);
    std::vector<os::Record> found;
    os::Record r;
    for (size_t i = 0; i < count; ++i) {
        if (random() % 2) r.block += random() % 3, r.access += random() >> (random() % 64);
        if (random() % 100 == 0) r.block += random() >> 20;
        r.access &= (uint64_t{1} << 62) - 1;
        r.kind = static_cast<os::Kind>(random() % os::kinds);
        r.cause = random() % 8, r.pool = random() % 2;
        r.large = random() % 2, r.fallback = random() % 2, r.write = random() % 2;
        if (static_cast<uint8_t>(r.kind) >= os::first_new_kind) r.fallback = r.write = false;  // they have none
        r.page = random() >> (random() % 64), r.frame = random() >> (random() % 64);
        r.pages = random() % 2 ? (r.large ? 512 : 1) : random() >> (random() % 64);
        r.tables.resize(random() % 5);
        for (uint32_t &table : r.tables) table = static_cast<uint32_t>(random());
        if (found.empty() || (r.block >= found.back().block && r.access >= found.back().access)) found.push_back(r);
        else r = found.back();
    }
    return found;
}

std::string write(const std::vector<os::Record> &records) {
    const std::string path = scratch("log");
    os::Writer writer(path, header());
    for (const os::Record &record : records) writer.add(record);
    writer.finish();
    return path;
}

std::string bytes_of(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Log, WhatIsWrittenIsRead) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        const auto records = random_records(seed, 2000);
        ASSERT_GT(records.size(), 500u);
        const std::string path = write(records);
        EXPECT_EQ(records_of(path), records) << seed;
        os::Reader reader(path);
        EXPECT_EQ(reader.header(), header());
        EXPECT_EQ(reader.records(), records.size());
        std::filesystem::remove(path);
    }
}

TEST(Log, OtherFormatsAreRefused) {
    const std::string path = write(random_records(1, 20)), whole = bytes_of(path), line = "note.format = 2\n";
    for (const std::string other : {"", "note.format = 3\n", "note.format = 2\nnote.format = 3\n"}) {
        std::string changed = whole, length;
        changed.replace(changed.find(line), line.size(), other);
        os::put_word(length, os::get_word(changed.data() + os::magic_bytes) + other.size() - line.size());
        changed.replace(os::magic_bytes, os::word_bytes, length);
        changed.resize(changed.size() - os::word_bytes);
        os::put_word(changed, os::checksum_of(changed.data(), changed.size()));
        std::ofstream(path, std::ios::binary) << changed;
        expect_parts(refused([&] { os::Reader reader(path); }), {path, "note.format", "os/log-header", "make it again"});
    }
    std::filesystem::remove(path);
}

TEST(Log, AFaultInOrderTakesSixBytes) {
    std::vector<os::Record> records;
    for (uint64_t i = 0; i < 1000; ++i) records.push_back({i, i, os::Kind::map, 1, 1, false, false, true, i, 1, 5000 + i, {}});
    const std::string one = write({records.begin(), records.begin() + 500}), two = write(records);
    EXPECT_EQ(bytes_of(two).size() - bytes_of(one).size(), 500u * 6);  // 2 bytes; blocks, accesses, page and frame take 1 each
    for (const std::string &path : {one, two}) std::filesystem::remove(path);
}

TEST(Log, EveryChangedByteIsFound) {
    const std::string path = write(random_records(1, 20)), whole = bytes_of(path);
    for (size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] ^= 0x10;
        std::ofstream(path, std::ios::binary) << damaged;
        EXPECT_THROW(records_of(path), os::LogError) << at;
    }
    for (size_t size = 0; size < whole.size(); size += 7) {
        std::ofstream(path, std::ios::binary) << whole.substr(0, size);
        EXPECT_THROW(records_of(path), os::LogError) << size;
    }
    std::filesystem::remove(path);
    expect_parts(refused([&] { os::Reader reader(path); }), {path});
}

TEST(Log, MoreRecordsThanBytesAreRefused) {
    const std::string path = write(random_records(1, 20)), whole = bytes_of(path);
    const size_t tail = whole.size() - 3 * os::word_bytes;
    for (const uint64_t count : {uint64_t{1} << 40, ~uint64_t{0}}) {
        std::string changed = whole.substr(0, tail), rest = whole.substr(tail + os::word_bytes, os::word_bytes);
        os::put_word(changed, count);
        changed += rest;
        os::put_word(changed, os::checksum_of(changed.data(), changed.size()));
        std::ofstream(path, std::ios::binary) << changed;
        expect_parts(refused([&] { os::Reader reader(path); }), {path, "more records"});
    }
    std::filesystem::remove(path);
}

TEST(Log, NothingIsLeftWithoutFinish) {
    const std::string folder = scratch("folder");
    std::filesystem::create_directory(folder);
    {
        os::Writer writer(folder + "/log", header());
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    expect_parts(refused([&] { os::Writer writer(folder, header()); }), {folder, "folder"});
    expect_parts(refused([&] { os::Reader reader(folder); }), {folder, "directory"});
    expect_parts(refused([&] { os::Writer writer(folder + "/none/log", header()); }), {"none/log"});
    std::filesystem::remove(folder);
}

}  // namespace
}  // namespace tests
