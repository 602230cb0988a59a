#include "preload/hugepages.h"

#include <cerrno>
#include <sys/sysinfo.h>

#include "core/advice.h"
#include "core/pool.h"
#include "core/sys.h"
#include "core/text.h"

namespace mosalloc {
namespace {

bool read_number(const char* path, uint64_t* out) {
    char digits[32];
    const long fd = sys::open(path, O_RDONLY);
    if (sys::failed(fd)) return false;
    const long got = sys::read(fd, digits, sizeof digits);
    sys::close(fd);
    *out = 0;
    for (long i = 0; i < got && digits[i] >= '0' && digits[i] <= '9'; ++i) *out = *out * 10 + static_cast<uint64_t>(digits[i] - '0');
    return got > 0;
}

bool read_count(uint64_t page_bytes, const char* file, uint64_t* out) {
    char path[128];
    Text(path).add("/sys/kernel/mm/hugepages/hugepages-").number(page_bytes / 1024).add("kB/").add(file);
    return read_number(path, out);
}

}  // namespace

HugePages huge_pages(uint64_t page_bytes) {
    HugePages out;
    uint64_t free = 0, promised = 0;
    out.supported = read_count(page_bytes, "nr_hugepages", &out.total) && read_count(page_bytes, "free_hugepages", &free) &&
                    read_count(page_bytes, "resv_hugepages", &promised);
    // Below zero for a moment when a process ends while the kernel still holds a page of it for an io_uring.
    if (promised >> 63 != 0) promised = 0;
    out.unused = free > promised ? free - promised : 0;
    const uint64_t allowed = huge_allowance(page_bytes).bytes / page_bytes;
    out.free = out.unused < allowed ? out.unused : allowed;
    return out;
}

const HugeAllowance& huge_allowance(uint64_t page_bytes) {
    static Cgroups cgroups;  // static storage without constructors or guards
    static HugeAllowance allowance;
    static bool known = false;
    if (!known) cgroups.init();
    known = true;
    cgroups.huge_pages(page_bytes, &allowance);
    return allowance;
}

long back_window(uint64_t address, uint64_t bytes, uint64_t page_bytes) {
    const long mapped = map_huge(address, bytes, page_bytes, PROT_READ | PROT_WRITE);
    if (sys::failed(mapped)) return mapped;
    // The mapping reserved its pages, but a hugetlb cgroup charges at the first touch and raises SIGBUS.
    // Touching now turns that into an error before the program starts. EINVAL: before Linux 5.14.
    const long result = sys::madvise(address, bytes, advice::kPopulateWrite);
    if (sys::failed(result) && result != -EINVAL) reserve_span(address, bytes);  // the message counts free pages
    if (result != -EINVAL) return result;
    for (uint64_t page = address; page < address + bytes; page += page_bytes) *reinterpret_cast<volatile char*>(page) = 0;
    return 0;
}

uint64_t mapping_limit() {
    uint64_t limit = 0;
    return read_number("/proc/sys/vm/max_map_count", &limit) && limit != 0 ? limit : 65530;
}

bool overcommits(uint64_t wanted) {
    uint64_t mode = 0;
    return read_number("/proc/sys/vm/overcommit_memory", &mode) && mode == wanted;
}
bool strict_overcommit() { return overcommits(2); }
bool always_overcommits() { return overcommits(1); }

bool drops_contents() {
    const long at = sys::mmap(0, 2 * kPage4K, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(at)) return false;
    const uint64_t from = static_cast<uint64_t>(at), to = from + kPage4K;
    auto* word = reinterpret_cast<volatile char*>(to);
    bool works = !sys::failed(sys::mremap(from, kPage4K, kPage4K, MREMAP_MAYMOVE | MREMAP_FIXED, to));
    if (works) *word = 1;
    works = works && !sys::failed(sys::madvise(to, kPage4K, MADV_DONTNEED)) && *word == 0;
    sys::munmap(from, 2 * kPage4K);
    return works;
}

uint64_t memory_and_swap() {
    struct sysinfo found = {};
    if (sys::failed(sys::call(SYS_sysinfo, reinterpret_cast<long>(&found)))) return ~uint64_t{0};
    return (found.totalram + found.totalswap) * found.mem_unit;
}

}  // namespace mosalloc
