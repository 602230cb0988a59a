#include "preload/hugepages.h"

#include <cerrno>

#include "core/sys.h"
#include "core/text.h"

namespace mosalloc {
namespace {

bool read_count(uint64_t page_bytes, const char* file, uint64_t* out) {
    char path[128], digits[32];
    Text(path).add("/sys/kernel/mm/hugepages/hugepages-").number(page_bytes / 1024).add("kB/").add(file);
    const long fd = sys::open(path, O_RDONLY);
    if (sys::failed(fd)) return false;
    const long got = sys::read(fd, digits, sizeof digits);
    sys::close(fd);
    *out = 0;
    for (long i = 0; i < got && digits[i] >= '0' && digits[i] <= '9'; ++i)
        *out = *out * 10 + static_cast<uint64_t>(digits[i] - '0');
    return got > 0;
}

}  // namespace

HugePages huge_pages(uint64_t page_bytes) {
    HugePages out;
    uint64_t free = 0, promised = 0;
    out.supported = read_count(page_bytes, "nr_hugepages", &out.total) &&
                    read_count(page_bytes, "free_hugepages", &free) &&
                    read_count(page_bytes, "resv_hugepages", &promised);
    out.free = free > promised ? free - promised : 0;
    return out;
}

long back_window(uint64_t address, uint64_t bytes, uint64_t page_bytes, bool prefault) {
    const int shift = page_bytes == kPage1G ? 30 : 21;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB | (shift << MAP_HUGE_SHIFT);
    const long at = sys::mmap(address, bytes, PROT_READ | PROT_WRITE, flags);
    if (sys::failed(at)) return at;
    if (!prefault) return 0;
    // The mapping reserved its pages, but a hugetlb cgroup charges at the first touch and answers with SIGBUS.
    // Touching now turns that into an error before the program starts. EINVAL: before Linux 5.14.
    long result = sys::madvise(address, bytes, 23 /* MADV_POPULATE_WRITE */);
    if (result != -EINVAL) return result;
    for (uint64_t page = address; page < address + bytes; page += page_bytes)
        *reinterpret_cast<volatile char*>(page) = 0;
    return 0;
}

}  // namespace mosalloc
