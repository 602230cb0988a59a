#include "core/copy.h"

#include <cerrno>
#include <cstring>

#include "core/sys.h"

namespace mosalloc {
namespace {
const char zeros[kPage4K] = {};
}

long copy_pages(uint64_t from, uint64_t to, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += kPage4K) {
        const void* page = reinterpret_cast<const void*>(from + at);
        if (memcmp(page, zeros, kPage4K) != 0) memcpy(reinterpret_cast<void*>(to + at), page, kPage4K);
    }
    return 0;
}

long copy_pages_without_access(uint64_t from, uint64_t to, uint64_t bytes) {
    static char page[kPage4K];
    const long fd = sys::open("/proc/self/mem", O_RDONLY);
    if (sys::failed(fd)) return fd;
    long result = 0;
    for (uint64_t at = 0; at < bytes && result == 0; at += kPage4K) {
        const long got = sys::pread(fd, page, kPage4K, from + at);
        if (got != static_cast<long>(kPage4K)) result = sys::failed(got) ? got : -EIO;
        else if (memcmp(page, zeros, kPage4K) != 0) memcpy(reinterpret_cast<void*>(to + at), page, kPage4K);
    }
    sys::close(fd);
    return result;
}

}  // namespace mosalloc
