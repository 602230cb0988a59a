#include <cerrno>
#include <cstring>
#include <fstream>

#include "coding.h"
#include "tessera/common/numbers.h"
#include "tessera/os/log.h"

namespace tessera::os {
namespace {

constexpr const char *again = "make it again: tessera lab os run --help";
constexpr size_t least_bytes = magic_bytes + 4 * word_bytes;
constexpr size_t least_record_bytes = 4;  // head, flags, page, frame

std::string content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::string data;
    for (char part[1 << 16]; file.read(part, sizeof part) || file.gcount() > 0;) data.append(part, static_cast<size_t>(file.gcount()));
    if (!file.is_open() || file.bad()) throw LogError("log " + path, std::strerror(errno), "check the path");
    return data;
}

bool pool_of(std::string_view text, Pool &pool) {
    const size_t first = text.find(' '), second = text.find(' ', first + 1);
    uint64_t kind = 0;
    if (first == std::string_view::npos || second == std::string_view::npos) return false;
    const bool fine = read_number(text.substr(0, first), kind) && read_number(text.substr(first + 1, second - first - 1), pool.base) &&
                      read_number(text.substr(second + 1), pool.size_bytes) && kind < most_pools;
    pool.kind = static_cast<uint8_t>(kind);
    return fine;
}

/// False: a line that no writer makes.
bool header_line(std::string_view key, std::string_view value, Header &header) {
    if (key == "scenario") header.scenario = value;
    else if (key == "trace") header.trace_checksum = value;
    else if (key == "blocks") return read_number(value, header.blocks);
    else if (key == "accesses") return read_number(value, header.accesses);
    else if (key == "instructions") return read_number(value, header.instructions);
    else if (key == "pool") return header.pools.emplace_back(), pool_of(value, header.pools.back());
    else if (key == "note.format") return value == "2";
    else if (key.starts_with("note.")) header.notes.emplace_back(key.substr(5), value);
    else if (key.starts_with("key.")) header.scenario_text += std::string(key.substr(4)) + " = " + std::string(value) + "\n";
    else return false;
    return true;
}

}  // namespace

Reader::Reader(const std::string &path) : path_(path), data_(content(path)) {
    if (data_.size() < magic_bytes || data_.compare(0, magic_bytes, magic, magic_bytes) != 0)
        damaged("it does not begin as a log does [os/log-magic]");
    if (data_.size() < least_bytes) damaged("it is cut [os/log-cut]");
    const size_t tail = data_.size() - 3 * word_bytes;
    if (checksum_of(data_.data(), data_.size() - word_bytes) != get_word(data_.data() + tail + 2 * word_bytes))
        damaged("it is cut or damaged: the checksum differs [os/log-checksum]");
    const uint64_t header = get_word(data_.data() + magic_bytes);
    begin_ = magic_bytes + word_bytes;
    if (header > tail - begin_ || get_word(data_.data() + tail + word_bytes) != tail - begin_ - header)
        damaged("lengths differ [os/log-lengths]");
    std::string_view text(data_.data() + begin_, header);
    if (text.find(format_line) == text.npos) damaged("it has no line note.format = 2 [os/log-header]");
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        const size_t equals = line.find(" = ");
        if (line.size() == text.size() || equals == std::string_view::npos ||
            !header_line(line.substr(0, equals), line.substr(equals + 3), header_))
            damaged("header line '" + std::string(line.substr(0, 40)) + "' [os/log-header]");
        text.remove_prefix(line.size() + 1);
    }
    begin_ += header;
    end_ = tail;
    records_ = get_word(data_.data() + tail);
    if (records_ > (end_ - begin_) / least_record_bytes) damaged("it counts more records than its bytes can hold [os/log-lengths]");
    rewind();
}

void Reader::rewind() {
    at_ = begin_;
    left_ = records_;
    last_ = {};
}

void Reader::damaged(const std::string &found) const { throw LogError("log " + path_, found, again); }

uint64_t Reader::number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at_ == end_) damaged("a record is cut [os/log-record]");
        const auto byte = static_cast<unsigned char>(data_[at_++]);
        value |= uint64_t{byte & 127u} << shift;
        if (byte < 128) return value;
    }
    damaged("a number has more than 64 bits [os/log-record]");
}

bool Reader::next(Record &r) {
    if (left_ == 0) {
        if (at_ != end_) damaged("bytes follow the last record [os/log-record]");
        return false;
    }
    if (end_ - at_ < 3) damaged("a record is cut [os/log-record]");
    const auto head = static_cast<unsigned char>(data_[at_++]);
    const bool wide = (head & 7) == wide_kind;
    const unsigned more = wide ? static_cast<unsigned char>(data_[at_++]) : 0u, flags = static_cast<unsigned char>(data_[at_++]);
    const bool is_new = wide && (more & 7) == static_cast<unsigned>(Kind::count) && flags >> 4 & 1;
    r.kind = static_cast<Kind>(is_new ? first_new_kind + (flags >> 6) : wide ? more & 7 : head & 7);
    r.gigantic = more >> 3 & 1;
    r.cause = flags & 15;
    r.pool = static_cast<uint8_t>(wide ? more >> 4 : flags >> 4 & 1);
    r.large = flags >> 5 & 1, r.fallback = !is_new && flags >> 6 & 1, r.write = !is_new && flags >> 7;
    r.block = last_.block, r.access = last_.access;
    if (!(head >> 6 & 1)) r.block += number(), r.access += number();
    r.page = last_.page + last_.pages + unfolded(number());
    r.frame = last_.frame + last_.pages + unfolded(number());
    r.pages = head >> 7 ? number() : r.large ? 512 : 1;
    r.tables.resize(head >> 3 & 7);
    uint64_t table = 0;
    for (uint32_t &frame : r.tables) frame = static_cast<uint32_t>(table += unfolded(number()));
    last_.block = r.block, last_.access = r.access, last_.page = r.page, last_.pages = r.pages, last_.frame = r.frame;
    --left_;
    return true;
}

}  // namespace tessera::os
