#include "run/map_file.h"

#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mosalloc::run {

std::string absolute(const std::string& path) {
    char buffer[PATH_MAX];
    return realpath(path.c_str(), buffer) == nullptr ? path : buffer;
}

MapFile::MapFile() {
    const char* wanted = getenv("MOSALLOC_POOL_MAP");
    keep_ = wanted != nullptr && *wanted != 0;
    const char* folder = getenv("TMPDIR");
    path_ = keep_ ? wanted : std::string(folder == nullptr ? "/tmp" : folder) + "/mosalloc-map-XXXXXX";
    const int fd = keep_ ? open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
                         : mkostemp(path_.data(), O_CLOEXEC);
    if (fd < 0) return;
    if (ftruncate(fd, sizeof(mosalloc_pool_map)) == 0) {
        void* at = mmap(nullptr, sizeof(mosalloc_pool_map), PROT_READ, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) map_ = static_cast<const mosalloc_pool_map*>(at);
    }
    close(fd);
}

MapFile::~MapFile() {
    if (!keep_) unlink(path_.c_str());
}

}  // namespace mosalloc::run
