#include "core/write_gate.h"

#include <cerrno>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <time.h>

#include "core/asleep.h"
#include "core/sys.h"

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace mosalloc {
namespace {

constexpr int kTries = 10;
constexpr timespec kBetween = {0, 500000};

}  // namespace

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
    user_only_ = sys::failed(fd_);
    if (user_only_) fd_ = sys::call(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (sys::failed(fd_)) return false;
    uffdio_api api = {UFFD_API, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, 0};
    return !sys::failed(sys::call(SYS_ioctl, fd_, UFFDIO_API, reinterpret_cast<long>(&api)));
}

bool WriteGate::close(Range addresses) {
    if (!prepare()) return false;
    if (!user_only_) return protect(addresses);
    for (int i = 0; i < kTries; ++i) {
        if (others_sleep(addresses)) {
            if (!protect(addresses)) return false;
            if (others_sleep(addresses)) return true;
            open(addresses);
        }
        sys::call(SYS_nanosleep, reinterpret_cast<long>(&kBetween));
    }
    return false;
}

bool WriteGate::protect(Range addresses) {
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
