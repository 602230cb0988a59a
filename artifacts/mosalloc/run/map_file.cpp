#include "run/map_file.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mosalloc::run {
namespace {

constexpr const char* kPrefix = "/mosalloc-map-";

void remove_stale(const std::string& folder) {
    DIR* entries = opendir(folder.c_str());
    if (entries == nullptr) return;
    while (const dirent* entry = readdir(entries)) {
        long pid = 0;
        char rest = 0;
        if (sscanf(entry->d_name, "mosalloc-map-%ld-%c", &pid, &rest) != 2 || pid <= 0) continue;
        if (kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH) continue;
        const int fd = openat(dirfd(entries), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) continue;
        struct stat status = {};
        // The lock is held by a launcher of another process namespace.
        const bool ours = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
        if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(dirfd(entries), entry->d_name, 0);
        close(fd);
    }
    closedir(entries);
}

/// A descriptor that holds the file's lock, or -1. It opens the file a second time: a lock belongs to an open file, and the
/// mapping's one stays open in the process mosalloc-wait, which inherits the mapping and ends a little after a killed launcher.
int locked(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) flock(fd, LOCK_EX | LOCK_NB);
    return fd;
}

}  // namespace

std::string absolute(const std::string& path) {
    char buffer[PATH_MAX];
    return realpath(path.c_str(), buffer) == nullptr ? path : buffer;
}

MapFile::MapFile() {
    const char* wanted = getenv("MOSALLOC_POOL_MAP");
    keep_ = wanted != nullptr && *wanted != 0;
    const char* folder = getenv("TMPDIR");
    path_ = keep_ ? wanted : std::string(folder == nullptr ? "/tmp" : folder) + kPrefix + std::to_string(getpid()) + "-XXXXXX";
    if (!keep_) remove_stale(folder == nullptr ? "/tmp" : folder);
    const int fd = keep_ ? open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : mkostemp(path_.data(), O_CLOEXEC);
    if (fd < 0) return;
    if (!keep_) lock_ = locked(path_);
    if (ftruncate(fd, sizeof(mosalloc_pool_map)) == 0) {
        void* at = mmap(nullptr, sizeof(mosalloc_pool_map), PROT_READ, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) map_ = static_cast<const mosalloc_pool_map*>(at);
    }
    const int error = errno;
    close(fd);
    errno = error;
}

MapFile::~MapFile() {
    if (!keep_) unlink(path_.c_str());
    if (lock_ >= 0) close(lock_);
}

}  // namespace mosalloc::run
