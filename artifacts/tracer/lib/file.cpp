#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tessera/trace/trace.h"

namespace tessera::trace {
namespace {

[[noreturn]] void refuse(const std::string& asked, int error, const std::string& remedy) {
    throw TraceError(asked, std::strerror(error), remedy);
}

}  // namespace

File File::open_read(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) refuse("open trace " + path, errno, "give the path of a trace, or record one with `tessera trace record`");
    return File(path, fd);
}

File File::open_write(const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) refuse("write trace " + path, errno, "free disk space, or choose a path in an existing folder that you may write to");
    return File(path, fd);
}

File::~File() {
    if (fd_ >= 0) ::close(fd_);
}

uint64_t File::size() const {
    struct stat status{};
    if (::fstat(fd_, &status) != 0) refuse("size of trace " + path_, errno, "check the file system");
    return static_cast<uint64_t>(status.st_size);
}

bool File::read_at(uint64_t offset, void* to, uint64_t size) const {
    auto* at = static_cast<char*>(to);
    while (size > 0) {
        const ssize_t got = ::pread(fd_, at, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            refuse("read trace " + path_ + " at byte " + std::to_string(offset), errno,
                   "check the disk, then copy or record the trace again");
        if (got == 0) return false;
        at += got, offset += got, size -= got;
    }
    return true;
}

void File::write_at(uint64_t offset, const void* from, uint64_t size) {
    const auto* at = static_cast<const char*>(from);
    while (size > 0) {
        const ssize_t put = ::pwrite(fd_, at, size, static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0)
            refuse("write trace " + path_ + " at byte " + std::to_string(offset), errno,
                   "free disk space or write to another file system, then record again");
        at += put, offset += put, size -= put;
    }
}

void File::close() {
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) != 0) refuse("close trace " + path_, errno, "free disk space or write to another file system, then record again");
}

}  // namespace tessera::trace
