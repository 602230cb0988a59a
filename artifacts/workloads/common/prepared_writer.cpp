// prepared_writer.cpp - see prepared_writer.h.
#include "common/prepared_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "common/error.h"
#include "common/word_sum.h"

namespace tessera::workloads {

PreparedWriter::PreparedWriter(const std::string& path, Shape shape, uint64_t most_bytes) : path_(path), partial_{path + ".partial"} {
    header_.shape = std::move(shape);
    struct stat status;
    if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        throw Error("--prepare " + path, "it exists and is not a regular file", "give the name of a new file");
    lock_partial();
    struct statvfs room;
    if (fstatvfs(file_.number(), &room) == 0 && room.f_bavail * room.f_frsize < most_bytes)
        throw Error("--prepare " + path,
                    "up to " + std::to_string(most_bytes) + " bytes are needed, its file system has " +
                        std::to_string(room.f_bavail * room.f_frsize) + " free",
                    "free space, or give a file elsewhere", kExitFailed);
}

PreparedWriter::Partial::~Partial() {
    if (owned) unlink(path.c_str());
}

/// The lock belongs to the file, not to its name: when another preparation renamed or removed it meanwhile, the name has
/// to be opened again.
void PreparedWriter::lock_partial() {
    for (;;) {
        file_ = Descriptor(open(partial_.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (!file_.open())
            throw Error("--prepare " + path_, partial_.path + ": " + std::strerror(errno),
                        "free space, or give a file in a folder that exists and can be written");
        if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0)
            throw Error("--prepare " + path_, "another preparation writes " + partial_.path, "wait until it has ended", kExitFailed);
        struct stat opened, named;
        if (fstat(file_.number(), &opened) == 0 && stat(partial_.path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
            opened.st_dev == named.st_dev)
            break;
    }
    partial_.owned = true;
    if (ftruncate(file_.number(), 0) != 0) fail(errno, "emptying it");
}

void PreparedWriter::lay_out(std::vector<Section> sections) {
    header_.sections = std::move(sections);
    header_.lay_out();
    sums_.clear();
    for (const Section& section : header_.sections) sums_.emplace_back(section.sums());
}

void PreparedWriter::write_bytes(size_t section, uint64_t from, const void* data, uint64_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    put(data, bytes, header_.sections[section].offset + from);
    while (bytes > 0) {  // a checksum covers 4 MB of the array, whoever writes them
        const uint64_t part = std::min(bytes, kSumBytes - from % kSumBytes);
        sums_[section][from / kSumBytes].fetch_add(sum_of_words(at, part, from / 4), std::memory_order_relaxed);
        at += part;
        from += part;
        bytes -= part;
    }
}

PreparedWriter::Totals PreparedWriter::finish() {
    std::vector<uint64_t> table;
    for (const auto& sums : sums_) table.insert(table.end(), sums.begin(), sums.end());
    header_.table_sum = sum_of_words(table.data(), table.size() * sizeof(uint64_t), 0);
    put(table.data(), table.size() * sizeof(uint64_t), header_.table_offset);
    const std::string text = encode_header(header_);
    put(text.data(), text.size(), 0);
    if (std::rename(partial_.path.c_str(), path_.c_str()) != 0) fail(errno, "renaming it");
    partial_.owned = false;
    return {header_.file_bytes, header_.table_sum};
}

void PreparedWriter::put(const void* data, uint64_t bytes, uint64_t offset) {
    if (!file_.write_at(data, bytes, offset)) fail(errno, "writing " + std::to_string(bytes) + " bytes at " + std::to_string(offset));
}

void PreparedWriter::fail(int problem, const std::string& doing) const {
    throw Error("--prepare " + path_, partial_.path + ": " + doing + ": " + std::strerror(problem),
                problem == ENOSPC || problem == EDQUOT || problem == EFBIG
                    ? "free " + std::to_string(header_.file_bytes) + " bytes, or give a file elsewhere"
                    : "check the file system",
                kExitFailed);
}

}  // namespace tessera::workloads
