// header_test.cpp - the rule of headers by the table that Python's reader has, too; the texts of a file as they are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "lib/container.h"
#include "lib/sha256.h"
#include "streams.h"
#include "tessera/trace/pools.h"
#include "tessera/trace/printable.h"

namespace tessera::trace {
namespace {

using namespace testing;

std::vector<std::string> split(const std::string& text, const std::string& at) {
    std::vector<std::string> parts;
    size_t from = 0;
    for (size_t found; (found = text.find(at, from)) != std::string::npos; from = found + at.size())
        parts.push_back(text.substr(from, found - from));
    parts.push_back(text.substr(from));
    return parts;
}

struct Row {
    std::string verdict, what, header;
};

std::vector<Row> rows() {
    std::vector<Row> all;
    std::vector<std::string> base;
    std::ifstream file(TESSERA_HEADERS);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        const std::vector<std::string> fields = split(line, " | ");
        if (fields[0] == "base") {
            base.push_back(fields[1]);
            continue;
        }
        std::vector<std::string> lines = base;
        for (std::string change : fields[2].empty() ? std::vector<std::string>{} : split(fields[2], " ; ")) {
            if (const size_t tab = change.find("\\t"); tab != std::string::npos) change.replace(tab, 2, "\t");
            const bool adds = change.starts_with('+'), removes = change.starts_with('-');
            if (adds || removes) change.erase(0, 1);
            const std::string key = change.substr(0, change.find('=')) + "=";
            const auto at = std::find_if(lines.begin(), lines.end(), [&](const std::string& l) { return l.starts_with(key); });
            if (removes) lines.erase(at);
            else if (adds || key == "pool=" || at == lines.end()) lines.push_back(change);
            else *at = change;
        }
        std::string text;
        for (const std::string& l : lines) text += l + '\n';
        all.push_back({fields[0], fields[1], text + "sha256=" + sha256_hex(text) + '\n'});
    }
    return all;
}

TEST(Header, IsAcceptedAndRefusedAsTheTableSays) {
    std::map<std::string, int> seen;
    for (const Row& row : rows()) {
        Header header;
        std::optional<EventSizes> events;
        const std::string wrong = header_from_text(row.header, header, events);
        EXPECT_EQ(wrong.empty() ? "accepted" : "refused", row.verdict) << row.what << ": " << wrong;
        ++seen[row.verdict];
    }
    EXPECT_GE(seen["accepted"], 15);
    EXPECT_GE(seen["refused"], 50);
}

TEST(Header, AChecksumInTheMiddleOfALineIsNone) {
    Header header;
    std::optional<EventSizes> events;
    const std::string text = "program=p\norigin=o";
    EXPECT_FALSE(header_from_text(text + "sha256=" + sha256_hex(text) + '\n', header, events).empty());
}

TEST(Header, AWriterRefusesPoolsThatNoReaderAccepts) {
    const std::string path = temporary_path("pools");
    Header header = plain_header();
    header.pools[1].used_bytes = header.pools[1].size_bytes + 1;
    EXPECT_THROW(write_stream(path, random_stream(1, 10, 2), header), TraceError);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Pools, PagesOfEveryNumberOfBytes) {
    EXPECT_EQ(pages_in(0), 0u);
    EXPECT_EQ(pages_in(1), 1u);
    EXPECT_EQ(pages_in(4096), 1u);
    EXPECT_EQ(pages_in(4097), 2u);
    EXPECT_EQ(pages_in(UINT64_MAX), uint64_t{1} << 52);
    EXPECT_EQ(pages_in(UINT64_MAX - 4095), (uint64_t{1} << 52) - 1);
}

TEST(Printable, ControlsDirectionsAndMalformedBytesAreEscaped) {
    const std::pair<std::string, std::string> texts[] = {
        {"", ""},
        {"/bin/gups --size 64MB", "/bin/gups --size 64MB"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\x1b]0;x\x07", "\\x1b]0;x\\x07"},
        {"a\nb\rc\td", "a\\x0ab\\x0dc\\x09d"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\xc2\\x9b31m"},
        {"\xe2\x80\xae", "\\xe2\\x80\\xae"},
        {"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},
        {"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},
        {"\xff", "\\xff"},
        {"\xc3", "\\xc3"},
        {"\xc0\xaf", "\\xc0\\xaf"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xe0\x80\x80", "\\xe0\\x80\\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xe2\x82", "\\xe2\\x82"}};
    for (const auto& [text, shown] : texts) EXPECT_EQ(printable(text), shown);
    EXPECT_EQ(printable_lines("a\x1b\n  b\n\n"), "a\\x1b\n  b\n\n");
    EXPECT_EQ(printable_lines(""), "");
}

}  // namespace
}  // namespace tessera::trace
