#include "preload/faults.h"

#include <sys/ioctl.h>

#include "core/marking.h"
#include "core/sys.h"
#include "preload/marks.h"

namespace mosalloc {
namespace {
constexpr uint64_t kWaits = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE;
bool g_expected = false;  // set once

/// True unless /proc shows that the descriptor is something else; other drivers use other numbers.
bool is_userfaultfd(int fd) {
    char path[40], link[40];
    Text(path).add("/proc/self/fd/").number(static_cast<uint64_t>(fd));
    const long length = sys::readlink(path, link, sizeof link - 1);
    if (sys::failed(length)) return true;
    link[length] = 0;
    return same_text(link, "anon_inode:[userfaultfd]") || same_text(link, "/dev/userfaultfd");
}

struct Registration {
    int fd;
    uffdio_register* asked;
    uint64_t ioctls;  // what the kernel offers for all parts
};

long register_part(Range addresses, void* rest) {
    auto* all = static_cast<Registration*>(rest);
    uffdio_register part = {{addresses.start, addresses.bytes()}, all->asked->mode, 0};
    const long result = sys::call(SYS_ioctl, all->fd, UFFDIO_REGISTER, reinterpret_cast<long>(&part));
    if (!sys::failed(result)) all->ioctls &= part.ioctls;
    return result;
}

long register_faults(int fd, uffdio_register* asked) {
    const Range pages = asked == nullptr ? Range{} : pages_in_pools(asked->range.start, asked->range.len);
    if (pages.empty() || pages.bytes() != asked->range.len || !is_userfaultfd(fd))
        return sys::call(SYS_ioctl, fd, UFFDIO_REGISTER, reinterpret_cast<long>(asked));
    Registration all = {fd, asked, ~uint64_t{0}};
    const long result =
        mark_in_pools("ioctl UFFDIO_REGISTER", pages, [&](Space& space) { return watch_faults(space, pages, {register_part, &all}); });
    if (!sys::failed(result)) asked->ioctls = all.ioctls;
    return result;
}

}  // namespace

long call_userfaultfd(int fd, unsigned long request, void* argument) {
    if (request == UFFDIO_REGISTER) return register_faults(fd, static_cast<uffdio_register*>(argument));
    const long result = sys::call(SYS_ioctl, fd, static_cast<long>(request), reinterpret_cast<long>(argument));
    if (request == UFFDIO_API && result == 0 && (static_cast<uffdio_api*>(argument)->features & kWaits) != 0)
        __atomic_store_n(&g_expected, true, __ATOMIC_RELAXED);
    return result;
}

bool events_expected() { return __builtin_expect(__atomic_load_n(&g_expected, __ATOMIC_RELAXED), false); }

/// The program gives up this memory, so nobody else can own it between the look and the new mapping.
void unmap_watched(Range pages) {
    while (!pages.empty()) {
        Range run;
        {
            const Entry entry;
            run = marked_run(runtime().space, pages);
        }
        if (!run.empty()) reserve_span(run.start, run.bytes());
        pages.start = run.empty() ? pages.end : run.end;
    }
}

}  // namespace mosalloc
