#include "run/output.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace mosalloc::run {

bool can_write(const std::string& path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode))
        return access(path.c_str(), W_OK) == 0;  // a pipe: its reader waits for data
    const bool was_there = lstat(path.c_str(), &status) == 0;
    FILE* file = fopen(path.c_str(), "a");
    if (file == nullptr) return false;
    fclose(file);
    if (!was_there) unlink(path.c_str());
    return true;
}

bool close_whole(FILE* file, const std::string& path) {
    errno = 0;
    const bool flushed = fflush(file) == 0 && ferror(file) == 0;
    const int cause = errno != 0 ? errno : EIO;
    const bool closed = fclose(file) == 0;
    if (flushed && closed) return true;
    if (!flushed) errno = cause;
    const int shown = errno;
    struct stat status = {};
    if (lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) unlink(path.c_str());
    errno = shown;
    return false;
}

}  // namespace mosalloc::run
