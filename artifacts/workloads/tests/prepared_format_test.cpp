// Headers of prepared files: what is encoded is decoded, and every kind of lie is refused.
#include "common/prepared_format.h"

#include <gtest/gtest.h>

#include "common/error.h"
#include "common/word_sum.h"

using namespace tessera::workloads;

namespace {

PreparedHeader example() {
    PreparedHeader header;
    header.shape = {{"input", "test"}, {"graph", "file:a b.sg"}};
    header.sections = {{"small", 4, 3}, {"large", 8, (uint64_t{9} << 20) / 8}};  // 12 bytes; 9 MB, 3 checksums
    header.lay_out();
    header.table_sum = 77;
    return header;
}

std::string refusal(const std::string& start, uint64_t file_bytes, int* status = nullptr) {
    try {
        decode_header("f.prep", start, file_bytes, "run it again");
    } catch (const Error& error) {
        if (status != nullptr) *status = error.exit_status();
        return error.what();
    }
    return "accepted";
}

/// The header with one text in place of another, and a checksum that fits.
std::string resealed(std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    text.resize(text.find("header "));
    std::string filled = text;
    filled.resize(kHeaderBytes, '\0');
    text += "header " + std::to_string(sum_of_words(filled.data(), filled.size(), 0)) + "\n";
    text.resize(kHeaderBytes, '\0');
    return text;
}

// 4096 for the header, a page for the small array, 9 MB (2304 pages) for the large one, 1 + 3 checksums.
constexpr uint64_t kFileBytes = 4096 + 4096 + (9 << 20) + 4 * 8;

TEST(PreparedHeader, PlacesArraysOnPages) {
    const PreparedHeader header = example();
    EXPECT_EQ(header.sections[0].offset, 4096u);
    EXPECT_EQ(header.sections[1].offset, 8192u);
    EXPECT_EQ(header.table_offset, 8192u + (9 << 20));
    EXPECT_EQ(header.file_bytes, kFileBytes);
}

TEST(PreparedHeader, IsReadAsItWasWritten) {
    const PreparedHeader header = decode_header("f", encode_header(example()), kFileBytes, "");
    EXPECT_EQ(header.shape, example().shape);
    ASSERT_EQ(header.sections.size(), 2u);
    EXPECT_EQ(header.sections[1].name, "large");
    EXPECT_EQ(header.sections[1].element_bytes, 8u);
    EXPECT_EQ(header.sections[1].elements, 1179648u);
    EXPECT_EQ(header.table_sum, 77u);
}

TEST(PreparedHeader, RefusesWhatLies) {
    const std::string good = encode_header(example());
    const struct {
        const char *name, *from, *to, *said;
    } cases[] = {
        {"no arrays", "section small 4 3 4096\nsection large 8 1179648 8192\n", "", "0 arrays"},
        {"an element of no bytes", "small 4 3", "small 0 3", "has 0 bytes"},
        {"an element that is no number of words", "small 4 3", "small 6 3", "has 6 bytes"},
        {"an array without elements", "small 4 3", "small 4 0", "0 elements"},
        {"an array beyond 64 bits", "large 8 1179648", "large 8 4611686018427387904", "4611686018427387904 elements"},
        {"an array over the header", "3 4096", "3 0", "starts at 0, expected 4096"},
        {"an array inside another", "1179648 8192", "1179648 4096", "starts at 4096, expected 8192"},
        {"a table elsewhere", "sums 9445376", "sums 8192", "end at 8192"},
        {"another size", "bytes 9445408", "bytes 9445409", "9445409"},
        {"a number with letters", "small 4 3", "small 4x 3", "'4x' in line 4"},
        {"a number beyond 64 bits", "small 4 3", "small 4 99999999999999999999", "in line 4"},
        {"a control character", "argument input", "argument \001", "line 2"},
        {"an unknown item", "sums ", "seams ", "'seams'"},
    };
    for (const auto& lie : cases) {
        const std::string said = refusal(resealed(good, lie.from, lie.to), kFileBytes);
        EXPECT_NE(said.find(lie.said), std::string::npos) << lie.name << ": " << said;
        EXPECT_NE(said.find("what to do: run it again"), std::string::npos) << lie.name;
    }
}

TEST(PreparedHeader, TellsOtherFilesFromDamagedOnes) {
    const std::string good = encode_header(example());
    int status = 0;
    EXPECT_NE(refusal("\x7f"
                      "ELF and so on",
                      5000, &status)
                  .find("'tessera-prepared'"),
              std::string::npos);
    EXPECT_EQ(status, kExitUsage);
    EXPECT_NE(refusal("", 0, &status).find("'tessera-prepared'"), std::string::npos);
    EXPECT_EQ(status, kExitUsage);
    EXPECT_NE(refusal(resealed(good, "tessera-prepared 1", "tessera-prepared 2"), kFileBytes, &status).find("version 2"),
              std::string::npos);
    EXPECT_EQ(status, kExitUsage);
    EXPECT_NE(refusal(good.substr(0, 500), 500, &status).find("500 bytes"), std::string::npos);
    EXPECT_EQ(status, kExitFailed);
    EXPECT_NE(refusal(good, kFileBytes - 1, &status).find("9445407"), std::string::npos);
    EXPECT_EQ(status, kExitFailed);
    EXPECT_NE(refusal(good, kFileBytes + 1, &status).find("9445409"), std::string::npos);
    std::string damaged = good;
    damaged[damaged.find("test")] ^= 1;
    EXPECT_NE(refusal(damaged, kFileBytes, &status).find("checksum"), std::string::npos);
    EXPECT_EQ(status, kExitFailed);
    EXPECT_NE(refusal(good.substr(0, 40) + std::string(4056, 'x'), kFileBytes).find("has no end"), std::string::npos);
}

TEST(PreparedHeader, RefusesToWriteWhatItCouldNotRead) {
    PreparedHeader header = example();
    header.shape[0].second = "two\nlines";
    EXPECT_THROW(encode_header(header), Error);
    header.shape[0].second = std::string(5000, 'n');
    EXPECT_THROW(encode_header(header), Error);
}

// mix64 of SplitMix64: the seed is the word, the counter its position.
TEST(WordSum, AddsMixedWordsByPosition) {
    const uint32_t words[] = {5, 6, 7};
    EXPECT_EQ(sum_of_words(words, 12, 10), mix64(5, 10) + mix64(6, 11) + mix64(7, 12));
    EXPECT_EQ(sum_of_words(words, 4, 10) + sum_of_words(words + 1, 8, 11), sum_of_words(words, 12, 10));
    const uint32_t swapped[] = {6, 5, 7};
    EXPECT_NE(sum_of_words(words, 12, 0), sum_of_words(swapped, 12, 0));
}

}  // namespace
