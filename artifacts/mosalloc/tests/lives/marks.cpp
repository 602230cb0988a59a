// marks.cpp - what a program can attach to a mapping: a NUMA policy, a registration with userfaultfd, a name. All of it
// ends with munmap, so the next memory at the same place must have none of it.
#include <cstring>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/prctl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "access.h"
#include "events.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace lives {
namespace {

constexpr size_t kHuge = 2u << 20;
constexpr int kReadWrite = PROT_READ | PROT_WRITE, kPlain = MAP_PRIVATE | MAP_ANONYMOUS;

char* map_pages(Self& s, size_t bytes) {
    void* got = mmap(nullptr, bytes, kReadWrite, kPlain, -1, 0);
    return s.t.log.call("mmap", got) ? static_cast<char*>(got) : nullptr;
}

/// Ends the mapping, by munmap or by a new one over it, and returns memory that is new: mostly at the same place.
char* renew(Self& s, char* at, size_t bytes) {
    if (s.t.random.one_in(3)) {
        void* got = mmap(at, bytes, kReadWrite, kPlain | MAP_FIXED, -1, 0);
        return s.t.log.call("over", got) ? static_cast<char*>(got) : nullptr;
    }
    s.t.log.call("munmap", munmap(at, bytes));
    return map_pages(s, bytes);
}

int policy_at(const char* at) {
    int mode = -1;
    return syscall(SYS_get_mempolicy, &mode, nullptr, 0, at, MPOL_F_ADDR) == 0 ? mode : -errno;
}

/// New memory: zero, and no access to it may wait for or fail by what the old one had.
void check_new(Self& s, char* at, size_t bytes) {
    for (size_t page = 0; page < bytes; page += 16 * kPage) {
        s.t.log.result("read", differential::read_page(at + page));
        s.t.log.result("write", static_cast<uint64_t>(differential::write_page(at + page, page + 1, false)));
    }
}

}  // namespace

/// Huge pages accept policies for whole ones only, so results count without windows alone; what is left does always.
void event_policy(Self& s) {
    s.t.log.begin("policy");
    const Maps maps(s.t, Maps::shared);
    const bool whole = s.t.random.one_in(2);
    const size_t bytes = whole ? 3 * kHuge : 32 * kPage;
    char* at = map_pages(s, bytes);
    if (at != nullptr) {
        char* from = at;
        if (whole) from += (kHuge - reinterpret_cast<uintptr_t>(at) % kHuge) % kHuge;
        const size_t length = whole ? kHuge : (1 + s.t.random.below(16)) * kPage;
        const unsigned long node = 1;
        const int mode = s.t.random.one_in(2) ? MPOL_BIND : MPOL_PREFERRED;
        const long result = syscall(SYS_mbind, from, length, mode, &node, 8 * sizeof node, 0);
        if (s.options->marks) {
            s.t.log.call("mbind", result);
            s.t.log.result("policy", static_cast<uint64_t>(policy_at(from)));
        }
        s.t.log.result("write", static_cast<uint64_t>(differential::write_page(from, 77, false)));
        const size_t distance = static_cast<size_t>(from - at);
        at = renew(s, at, bytes);
        if (at != nullptr) {
            s.t.log.result("policy_of_new", static_cast<uint64_t>(policy_at(at + distance)));
            check_new(s, at, bytes);
            s.t.log.call("munmap", munmap(at, bytes));
        }
    }
    s.t.log.end();
}

/// Nobody answers the faults, so memory that kept the registration would raise SIGBUS (UFFD_FEATURE_SIGBUS).
void event_registration(Self& s) {
    if (s.features.denied) return;
    s.t.log.begin("registration");
    const Maps maps(s.t, Maps::shared);
    const size_t bytes = (1 + s.t.random.below(64)) * kPage;
    char* at = map_pages(s, bytes);
    const int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    s.t.log.result("userfaultfd", fd >= 0);
    if (at != nullptr && fd >= 0) {
        uffdio_api api = {UFFD_API, UFFD_FEATURE_SIGBUS, 0};
        s.t.log.call("api", ioctl(fd, UFFDIO_API, &api));
        uffdio_register range = {{reinterpret_cast<uint64_t>(at), bytes}, UFFDIO_REGISTER_MODE_MISSING, 0};
        const bool registered = ioctl(fd, UFFDIO_REGISTER, &range) == 0;
        if (s.options->marks) {
            s.t.log.result("registered", registered);
            s.t.log.result("fault", static_cast<uint64_t>(differential::try_read(at)));
        }
        at = renew(s, at, bytes);
        if (at != nullptr) check_new(s, at, bytes);
    }
    if (at != nullptr) s.t.log.call("munmap", munmap(at, bytes));
    if (fd >= 0) close(fd);
    s.t.log.end();
}

void event_name(Self& s) {
    s.t.log.begin("name");
    const Maps maps(s.t, Maps::shared);
    const size_t bytes = 16 * kPage;
    char* at = map_pages(s, bytes);
    if (at != nullptr) {
        const long result = prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at + kPage, 4 * kPage, "life");
        if (s.options->marks) s.t.log.call("name", result);
        at = renew(s, at, bytes);
        if (at != nullptr) {
            check_new(s, at, bytes);
            s.t.log.call("munmap", munmap(at, bytes));
        }
    }
    s.t.log.end();
}

}  // namespace lives
