// file.h - a file descriptor whose failures are TraceErrors naming the file, the offset and the remedy.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::trace {

class File {
public:
    static File open_read(const std::string& path);
    static File open_write(const std::string& path);  ///< an existing file
    File(File&& other) noexcept : path_(std::move(other.path_)), fd_(other.fd_) { other.fd_ = -1; }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File& operator=(File&&) = delete;
    ~File();

    const std::string& path() const { return path_; }
    uint64_t size() const;
    /// False when the file ends before `offset + size`.
    bool read_at(uint64_t offset, void* to, uint64_t size) const;
    void write_at(uint64_t offset, const void* from, uint64_t size);
    void close();

private:
    File(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    std::string path_;
    int fd_;
};

}  // namespace tessera::trace
