#include "core/write_gate.h"

#include <cerrno>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "core/sys.h"

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

namespace mosalloc {

uint64_t thread_count() {
    char text[2048];
    const long fd = sys::open("/proc/self/status", O_RDONLY);
    if (sys::failed(fd)) return 0;
    const long got = sys::read(fd, text, sizeof text - 1);
    sys::close(fd);
    if (got <= 0) return 0;
    text[got] = 0;
    constexpr char kKey[] = "\nThreads:\t";
    constexpr long kLength = sizeof kKey - 1;
    for (long at = 0; at + kLength < got; ++at) {
        long i = 0;
        while (i < kLength && text[at + i] == kKey[i]) ++i;
        if (i < kLength) continue;
        uint64_t count = 0;
        for (const char* c = text + at + i; *c >= '0' && *c <= '9'; ++c) count = count * 10 + static_cast<uint64_t>(*c - '0');
        return count;
    }
    return 0;
}

/// The system call needs a privilege or a sysctl; the device needs its file mode only (Linux 6.1).
long open_userfaultfd() {
    const long fd = sys::call(SYS_userfaultfd, O_CLOEXEC);
    if (!sys::failed(fd)) return fd;
    const long device = sys::open("/dev/userfaultfd", O_RDWR);
    if (sys::failed(device)) return fd;
    const long made = sys::call(SYS_ioctl, device, USERFAULTFD_IOC_NEW, O_CLOEXEC);
    sys::close(device);
    return made;
}

bool WriteGate::prepare() {
    if (fd_ >= 0) return true;
    fd_ = open_userfaultfd();
    if (sys::failed(fd_)) return false;
    uffdio_api api = {UFFD_API, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, 0};
    return !sys::failed(sys::call(SYS_ioctl, fd_, UFFDIO_API, reinterpret_cast<long>(&api)));
}

bool WriteGate::close(Range addresses) {
    if (!prepare()) return false;
    uffdio_register watch = {{addresses.start, addresses.bytes()}, UFFDIO_REGISTER_MODE_WP, 0};
    uffdio_writeprotect protect = {{addresses.start, addresses.bytes()}, UFFDIO_WRITEPROTECT_MODE_WP};
    return !sys::failed(sys::call(SYS_ioctl, fd_, UFFDIO_REGISTER, reinterpret_cast<long>(&watch))) &&
           !sys::failed(sys::call(SYS_ioctl, fd_, UFFDIO_WRITEPROTECT, reinterpret_cast<long>(&protect)));
}

void WriteGate::open(Range addresses) {
    if (fd_ < 0) return;
    uffdio_range range = {addresses.start, addresses.bytes()};
    sys::call(SYS_ioctl, fd_, UFFDIO_UNREGISTER, reinterpret_cast<long>(&range));
    sys::call(SYS_ioctl, fd_, UFFDIO_WAKE, reinterpret_cast<long>(&range));  // if another mapping is there now
}

void WriteGate::leave() {
    if (fd_ >= 0) sys::close(fd_);
    fd_ = -1;
}

}  // namespace mosalloc
