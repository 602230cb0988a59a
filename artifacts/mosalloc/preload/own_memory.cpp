#include "preload/own_memory.h"

#include <sys/vfs.h>

#include "core/sys.h"
#include "preload/forks.h"
#include "preload/hooks.h"

namespace mosalloc {

bool asks_huge_pages(int flags, int fd) {
    if ((flags & MAP_ANONYMOUS) != 0) return (flags & MAP_HUGETLB) != 0;
    struct statfs file = {};
    constexpr long kHugetlbfs = 0x958458f6;
    return !sys::failed(sys::call(SYS_fstatfs, fd, reinterpret_cast<long>(&file))) && file.f_type == kHugetlbfs;
}

void count_own_huge_pages(uint64_t bytes, int flags, int fd) {
    if (asks_huge_pages(flags, fd)) __atomic_fetch_add(&runtime().map->own_huge_bytes, bytes, __ATOMIC_RELAXED);
}

long change_reservation(long result, uint64_t addr, uint64_t bytes, int prot) {
    if (runtime().reservations.empty() || prot == PROT_NONE || sys::failed(result)) return result;
    const Range range{align_down(addr, kPage4K), align_up(addr + bytes, kPage4K)};
    if (range.empty()) return result;
    const Entry entry;
    if (prot == kReplaced) runtime().reservations.gone(range);
    else runtime().reservations.opened(range);
    return result;
}

long unmap_reservation(uint64_t addr, uint64_t bytes) {
    const Range range{addr, align_up(addr + bytes, kPage4K)};
    if (runtime().reservations.empty() || addr % kPage4K != 0 || range.end <= addr) return sys::munmap(addr, bytes);
    uint64_t closed;
    {
        const Entry entry;
        closed = runtime().reservations.gone(range);
    }
    const long result = sys::munmap(addr, bytes);
    if (sys::failed(result) && closed != 0) {
        const Entry entry;
        runtime().reservations.back(range, closed);
    }
    return result;
}

}  // namespace mosalloc
