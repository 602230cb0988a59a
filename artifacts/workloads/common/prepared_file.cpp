// prepared_file.cpp - see prepared_file.h.
#include "common/prepared_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/error.h"
#include "common/parallel.h"
#include "common/word_sum.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kPieceBytes = 4 * kSumBytes;  // of one read

std::string command_line(const Shape& shape) {
    std::string text;
    for (const auto& [name, value] : shape) text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
}

}  // namespace

PreparedFile::PreparedFile(const std::string& program, const std::string& path, const Shape& asked, Verify verify)
    : path_(path), remedy_("make it again with the same arguments: " + program + " --prepare " + path) {
    file_ = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_.open()) throw Error("prepared file " + path, std::strerror(errno), remedy_);
    struct stat status;
    if (fstat(file_.number(), &status) != 0 || !S_ISREG(status.st_mode))
        throw Error("prepared file " + path, "it is not a regular file", remedy_);
    const auto size = static_cast<uint64_t>(status.st_size);
    std::string start(std::min(size, kHeaderBytes), '\0');
    read_exactly(start.data(), start.size(), 0);
    header_ = decode_header(path, start, size, remedy_);
    expect_shape(asked);
    if (verify == Verify::yes) read_table();
}

void PreparedFile::expect_shape(const Shape& asked) const {
    if (header_.shape == asked) return;
    throw Error("prepared file " + path_ + " for " + command_line(asked), "it was prepared for " + command_line(header_.shape),
                "give the arguments that it was prepared with, or " + remedy_);
}

void PreparedFile::read_table() {
    table_.resize(header_.table_bytes() / sizeof(uint64_t));
    read_exactly(table_.data(), header_.table_bytes(), header_.table_offset);
    if (sum_of_words(table_.data(), header_.table_bytes(), 0) != header_.table_sum) damaged("its table of checksums is damaged");
}

const Section& PreparedFile::find(const std::string& name, uint64_t element_bytes) const {
    for (const Section& section : header_.sections) {
        if (section.name != name) continue;
        if (section.element_bytes != element_bytes)
            damaged("elements of array '" + name + "' have " + std::to_string(section.element_bytes) + " bytes, expected " +
                    std::to_string(element_bytes));
        return section;
    }
    damaged("it has no array '" + name + "'");
}

void PreparedFile::expect_elements(const Section& section, uint64_t elements) const {
    if (section.elements != elements)
        damaged("array '" + section.name + "' has " + std::to_string(section.elements) + " elements, expected " + std::to_string(elements));
}

void PreparedFile::read_into(const Section& section, uint64_t from, void* to, uint64_t bytes) const {
    for (uint64_t done = 0; done < bytes; done += kPieceBytes) {
        const uint64_t part = std::min(bytes - done, kPieceBytes);
        read_exactly(static_cast<unsigned char*>(to) + done, part, section.offset + from + done);
        if (!table_.empty()) compare_sums(section, from + done, static_cast<unsigned char*>(to) + done, part);
    }
}

void PreparedFile::read_exactly(void* to, uint64_t bytes, uint64_t offset) const {
    const int64_t got = file_.read_at(to, bytes, offset);
    if (got < 0) throw Error("prepared file " + path_, std::string("reading: ") + std::strerror(errno), "check the disk", kExitFailed);
    if (static_cast<uint64_t>(got) != bytes)
        damaged("it ended at byte " + std::to_string(offset + static_cast<uint64_t>(got)) + " while it was read");
}

void PreparedFile::compare_sums(const Section& section, uint64_t from, const void* data, uint64_t bytes) const {
    uint64_t first = 0;  // of this section in the table
    for (const Section& before : header_.sections) {
        if (before.offset == section.offset) break;
        first += before.sums();
    }
    for (uint64_t done = 0; done < bytes; done += kSumBytes) {
        const uint64_t part = std::min(bytes - done, kSumBytes), at = from + done;
        if (sum_of_words(static_cast<const unsigned char*>(data) + done, part, at / 4) != table_[first + at / kSumBytes])
            damaged("the checksum of bytes " + std::to_string(section.offset + at) + " to " + std::to_string(section.offset + at + part) +
                    ", in array '" + section.name + "', is wrong");
    }
}

void PreparedFile::check_all(unsigned threads) const {
    struct Piece {
        const Section* section;
        uint64_t from;
    };
    std::vector<Piece> pieces;
    for (const Section& section : header_.sections)
        for (uint64_t from = 0; from < section.bytes(); from += kSumBytes) pieces.push_back({&section, from});
    claim_in_parallel(threads, pieces.size(), [&](uint64_t i) {
        const auto& [section, from] = pieces[i];
        const uint64_t bytes = std::min(section->bytes() - from, kSumBytes);
        thread_local std::vector<unsigned char> buffer;
        buffer.resize(kSumBytes);
        read_exactly(buffer.data(), bytes, section->offset + from);
        compare_sums(*section, from, buffer.data(), bytes);
    });
}

void PreparedFile::damaged(const std::string& found) const { throw Error("prepared file " + path_, found, remedy_, kExitFailed); }

}  // namespace tessera::workloads
