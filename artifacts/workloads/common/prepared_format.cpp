// prepared_format.cpp - see prepared_format.h.
#include "common/prepared_format.h"

#include "common/error.h"
#include "common/word_sum.h"
#include "tessera/common/numbers.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kPageBytes = 4096, kMostSections = 16, kMostElementBytes = 4096;
constexpr std::string_view kMagic = "tessera-prepared ";

uint64_t up_to_page(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

uint64_t sum_of_lines(std::string_view lines) {
    std::string filled(lines);
    filled.resize(kHeaderBytes, '\0');
    return sum_of_words(filled.data(), filled.size(), 0);
}

/// Reads a header line by line. Every refusal names the file.
class Decoder {
public:
    Decoder(const std::string& path, std::string_view text, const std::string& remedy)
        : path_(path), text_(text), rest_(text), remedy_(remedy) {}

    [[noreturn]] void refuse(const std::string& found, int exit_status = kExitFailed) const {
        throw Error("prepared file " + path_, found, remedy_, exit_status);
    }
    [[noreturn]] void damaged(const std::string& what) const { refuse("its header is damaged: " + what); }

    std::string_view next_line() {
        const size_t end = rest_.find('\n');
        if (end == std::string_view::npos) damaged("line " + std::to_string(line_ + 1) + " has no end");
        const std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        ++line_;
        for (const char c : line)  // so that messages can quote it
            if (static_cast<unsigned char>(c) < 0x20) damaged("line " + std::to_string(line_) + " has a control character");
        return line;
    }

    /// Bytes before the line that was read last.
    std::string_view before(std::string_view line) const { return text_.substr(0, static_cast<size_t>(line.data() - text_.data())); }

    static std::string_view word(std::string_view& line) {
        const size_t end = line.find(' ');
        const std::string_view found = line.substr(0, end);
        line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
        return found;
    }

    uint64_t number(std::string_view& line) const {
        const std::string_view digits = word(line);
        if (const auto value = whole_number(digits)) return *value;
        damaged(std::string("'").append(digits.substr(0, 20)) + "' in line " + std::to_string(line_) + " is not a number");
    }

private:
    const std::string& path_;
    std::string_view text_, rest_;
    const std::string& remedy_;
    uint64_t line_ = 0;
};

void check_layout(const Decoder& decoder, const PreparedHeader& header) {
    if (header.sections.empty() || header.sections.size() > kMostSections)
        decoder.damaged("it has " + std::to_string(header.sections.size()) + " arrays, but must have 1 to 16");
    PreparedHeader expected = header;
    for (const Section& section : header.sections) {
        if (section.element_bytes == 0 || section.element_bytes % 4 != 0 || section.element_bytes > kMostElementBytes)
            decoder.damaged("an element of array '" + section.name + "' has " + std::to_string(section.element_bytes) + " bytes");
        if (section.elements == 0 || section.elements > (uint64_t{1} << 56) / section.element_bytes)
            decoder.damaged("array '" + section.name + "' has " + std::to_string(section.elements) + " elements");
    }
    expected.lay_out();  // 16 arrays of less than 2^56 bytes: nothing overflows
    for (size_t i = 0; i < expected.sections.size(); ++i)
        if (header.sections[i].offset != expected.sections[i].offset)
            decoder.damaged("array '" + header.sections[i].name + "' starts at " + std::to_string(header.sections[i].offset) +
                            ", expected " + std::to_string(expected.sections[i].offset));
    if (header.table_offset != expected.table_offset || header.file_bytes != expected.file_bytes)
        decoder.damaged("its arrays end at " + std::to_string(header.table_offset) + " of " + std::to_string(header.file_bytes) +
                        " bytes, expected " + std::to_string(expected.table_offset) + " of " + std::to_string(expected.file_bytes));
}

}  // namespace

void PreparedHeader::lay_out() {
    uint64_t offset = kHeaderBytes;
    for (Section& section : sections) {
        section.offset = offset;
        offset = up_to_page(offset + section.bytes());
    }
    table_offset = offset;
    file_bytes = offset + table_bytes();
}

uint64_t PreparedHeader::table_bytes() const {
    uint64_t sums = 0;
    for (const Section& section : sections) sums += section.sums();
    return sums * sizeof(uint64_t);
}

std::string encode_header(const PreparedHeader& header) {
    std::string text = std::string(kMagic) + std::to_string(kPreparedVersion) + "\n";
    for (const auto& [name, value] : header.shape) {
        for (const char c : name + value)
            if (static_cast<unsigned char>(c) < 0x20)
                throw Error("prepared file: argument '" + name + "'", "its value has a control character", "rename the input");
        text += "argument " + name + " " + value + "\n";
    }
    for (const Section& section : header.sections)
        text += "section " + section.name + " " + std::to_string(section.element_bytes) + " " + std::to_string(section.elements) + " " +
                std::to_string(section.offset) + "\n";
    text += "sums " + std::to_string(header.table_offset) + " " + std::to_string(header.table_sum) + "\n";
    text += "bytes " + std::to_string(header.file_bytes) + "\n";
    text += "header " + std::to_string(sum_of_lines(text)) + "\n";
    if (text.size() > kHeaderBytes)
        throw Error("prepared file: its header", "needs " + std::to_string(text.size()) + " bytes, has 4096",
                    "give the input a shorter name");
    text.resize(kHeaderBytes, '\0');
    return text;
}

PreparedHeader decode_header(const std::string& path, std::string_view start, uint64_t file_bytes, const std::string& remedy) {
    const std::string_view text = start.substr(0, kHeaderBytes);
    Decoder decoder(path, text, remedy);
    if (!text.starts_with(kMagic)) decoder.refuse("it is not a prepared file: it does not begin with 'tessera-prepared'", kExitUsage);
    std::string_view line = decoder.next_line();
    line.remove_prefix(kMagic.size());
    const uint64_t version = decoder.number(line);
    if (version != kPreparedVersion)
        decoder.refuse("it has version " + std::to_string(version) + ", this program reads version " + std::to_string(kPreparedVersion),
                       kExitUsage);
    if (text.size() < kHeaderBytes)
        decoder.refuse("it is truncated: it has " + std::to_string(file_bytes) + " bytes, its header alone has 4096");

    PreparedHeader header;
    for (bool open = true; open;) {
        const std::string_view whole = line = decoder.next_line();
        const std::string_view item = Decoder::word(line);
        if (item == "argument") {
            const std::string_view name = Decoder::word(line);
            header.shape.emplace_back(name, line);
        } else if (item == "section") {
            Section& section = header.sections.emplace_back();
            section.name = Decoder::word(line);
            section.element_bytes = decoder.number(line);
            section.elements = decoder.number(line);
            section.offset = decoder.number(line);
        } else if (item == "sums") {
            header.table_offset = decoder.number(line);
            header.table_sum = decoder.number(line);
        } else if (item == "bytes") {
            header.file_bytes = decoder.number(line);
        } else if (item == "header") {
            if (decoder.number(line) != sum_of_lines(decoder.before(whole))) decoder.damaged("its checksum is wrong");
            open = false;
        } else {
            decoder.damaged(std::string("'").append(item.substr(0, 20)) + "' is not an item of a header");
        }
    }
    check_layout(decoder, header);
    if (file_bytes < header.file_bytes)
        decoder.refuse("it is truncated: it has " + std::to_string(file_bytes) + " bytes, its header gives " +
                       std::to_string(header.file_bytes));
    if (file_bytes > header.file_bytes)
        decoder.refuse("it has " + std::to_string(file_bytes) + " bytes, more than the " + std::to_string(header.file_bytes) +
                       " that its header gives");
    return header;
}

}  // namespace tessera::workloads
