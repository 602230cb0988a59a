// replacement.cpp - O_EXCL makes the new file; once it is on the disk, rename() replaces the old one.
#include "tessera/trace/file_replacement.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include "tessera/trace/trace.h"

namespace tessera::trace {
namespace {

std::string resolved(const std::string& target) {
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::file_status found = fs::status(target, failed);
    if (!fs::exists(found)) return target;
    if (!fs::is_regular_file(found)) throw TraceError("write " + target, "it is not a regular file", "name a regular file or a new file");
    return fs::canonical(target).string();
}

std::string unique_name(const std::string& target) {
    std::random_device random;
    char digits[17];
    std::snprintf(digits, sizeof digits, "%08x%08x", random(), random());
    return target + "." + digits + ".partial";
}

}  // namespace

FileReplacement::FileReplacement(const std::string& target) : target_(resolved(target)), path_(unique_name(target_)) {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        throw TraceError("write " + target, std::strerror(errno),
                         "free disk space, or choose a path in an existing folder that you may write to");
    ::close(fd);
}

FileReplacement::~FileReplacement() {
    if (!committed_) std::remove(path_.c_str());
}

void FileReplacement::commit() {
    const std::filesystem::path folder = std::filesystem::absolute(target_).parent_path();
    const int above = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // first: an error must come before the name changes
    const int made = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    committed_ = above >= 0 && made >= 0 && ::fsync(made) == 0 && std::rename(path_.c_str(), target_.c_str()) == 0;
    const bool kept = committed_ && (::fsync(above) == 0 || errno == EINVAL);  // EINVAL: the file system cannot sync folders
    const int error = errno;
    for (const int fd : {above, made})
        if (fd >= 0) ::close(fd);
    if (!kept)
        throw TraceError("write " + target_, std::strerror(error),
                         "free disk space, or choose a path in a folder that you may read and write");
}

}  // namespace tessera::trace
