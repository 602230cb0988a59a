// The reader rejects a damaged trace, wherever the damage is, and never crashes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "streams.h"

namespace tessera::trace::testing {
namespace {

/// Reads everything; true when accepted. TraceError is the only exception that may come out.
bool accepted(const std::string& path, std::string* message = nullptr) {
    try {
        Reader reader = Reader::open(path);
        Frame frame;
        while (reader.next(frame)) {
        }
        return true;
    } catch (const TraceError& error) {
        if (message) *message = error.what();
        return false;
    }
}

class Damage : public ::testing::Test {
protected:
    void SetUp() override {
        write_stream(path, random_stream(11, 4000, 12));
        bytes = read_bytes(path);
    }
    void TearDown() override { std::remove(path.c_str()); }
    std::string path = temporary_path(::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::string bytes;
};

TEST_F(Damage, OneFlippedBitInAnyRegionIsRefused) {
    for (size_t at = 0; at < bytes.size(); at += at < 200 || at + 600 > bytes.size() ? 1 : 37) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
        write_bytes(path, damaged);
        EXPECT_FALSE(accepted(path)) << "bit flipped in byte " << at;
    }
}

TEST_F(Damage, TruncatedOrExtendedIsRefused) {
    for (size_t size : {size_t{0}, size_t{1}, size_t{111}, size_t{112}, bytes.size() / 2, bytes.size() - 1}) {
        write_bytes(path, bytes.substr(0, size));
        EXPECT_FALSE(accepted(path)) << size << " bytes";
    }
    write_bytes(path, bytes + 'x');
    EXPECT_FALSE(accepted(path));
}

TEST_F(Damage, MessageNamesFileFrameOffsetAndRemedy) {
    std::string damaged = bytes, message;
    damaged[200] = static_cast<char>(damaged[200] ^ 1);
    write_bytes(path, damaged);
    ASSERT_FALSE(accepted(path, &message));
    for (const std::string& part : {path, std::string("frame 0"), std::string("byte 112"), std::string("what to do")})
        EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(Damage, ForeignAndUnfinishedFilesAreRefused) {
    std::string message;
    write_bytes(path, std::string(500, '\0'));
    ASSERT_FALSE(accepted(path, &message));
    EXPECT_NE(message.find("never finished"), std::string::npos) << message;
    std::remove(path.c_str());
    EXPECT_FALSE(accepted(path));
}

/// TESSERA_FUZZ_SECONDS sets the duration. The reader must reject every mutation or read the original content.
TEST_F(Damage, FuzzedFilesAreRefusedOrIdentical) {
    const char* asked = std::getenv("TESSERA_FUZZ_SECONDS");
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(asked ? std::atof(asked) : 2);
    std::mt19937_64 random(99);
    size_t runs = 0;
    for (; std::chrono::steady_clock::now() < end; ++runs) {
        std::string damaged = bytes;
        for (uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
            const size_t at = random() % damaged.size(), length = 1 + random() % 40;
            switch (random() % 4) {
                case 0: damaged[at] = static_cast<char>(random()); break;
                case 1: damaged.erase(at, length); break;
                case 2: damaged.insert(at, length, static_cast<char>(random())); break;
                default: damaged.replace(at, length, damaged.substr(random() % damaged.size(), length));
            }
            if (damaged.empty()) damaged = "x";
        }
        write_bytes(path, damaged);
        if (accepted(path)) ASSERT_EQ(damaged, bytes) << "mutation " << runs << " was accepted";
    }
    RecordProperty("mutations", static_cast<int>(runs));
}

}  // namespace
}  // namespace tessera::trace::testing
