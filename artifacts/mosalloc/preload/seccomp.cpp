#include "preload/seccomp.h"

#include <csignal>
#include <cstring>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "core/sys.h"

namespace mosalloc {
namespace {

/// Calls that the library makes on its own account. Those that it only passes on for the program are not here: a
/// filter that kills for them concerns the program with and without the library.
constexpr struct {
    const char* name;
    long number, a, b, c;
    bool windows_only = false;
} kCalls[] = {
    {"prctl", SYS_prctl, PR_SET_DUMPABLE, 0, 0},  // the first one: a killed child leaves no core file
    {"mmap", SYS_mmap, 0, 0, 0},
    {"munmap", SYS_munmap, 0, 0, 0},
    {"mprotect", SYS_mprotect, 0, 0, 0},
    {"madvise", SYS_madvise, 0, 0, 0},
    {"mremap", SYS_mremap, 0, 0, 0},
    {"brk", SYS_brk, 0, 0, 0},
    {"mbind", SYS_mbind, 0, 0, 0, true},  // ends the marks of huge pages, whichever call left them
    {"msync", SYS_msync, 0, 0, 0},
    {"futex", SYS_futex, 0, -1, 0},
    {"rt_sigprocmask", SYS_rt_sigprocmask, 0, 0, 0},
    {"getpid", SYS_getpid, 0, 0, 0},
    {"getppid", SYS_getppid, 0, 0, 0},
    {"gettid", SYS_gettid, 0, 0, 0},
    {"kcmp", SYS_kcmp, -1, -1, -1},
    {"nanosleep", SYS_nanosleep, 0, 0, 0},
    {"geteuid", SYS_geteuid, 0, 0, 0},
    {"kill", SYS_kill, -0x7fffffff, -1, 0},
    {"tkill", SYS_tkill, -1, 0, 0},
    {"openat", SYS_openat, -1, 0, 0},
    {"read", SYS_read, -1, 0, 0},
    {"pread64", SYS_pread64, -1, 0, 0},
    {"write", SYS_write, -1, 0, 0},
    {"close", SYS_close, -1, 0, 0},
    {"stat", SYS_stat, 0, 0, 0},
    {"fstat", SYS_fstat, -1, 0, 0},
    {"fstatfs", SYS_fstatfs, -1, 0, 0},
    {"readlinkat", SYS_readlinkat, -1, 0, 0},
    {"getdents64", SYS_getdents64, -1, 0, 0},
    {"ftruncate", SYS_ftruncate, -1, 0, 0},
    {"fcntl", SYS_fcntl, -1, F_GETFL, 0},
    {"ioctl", SYS_ioctl, -1, 0, 0},
    {"arch_prctl", SYS_arch_prctl, -1, 0, 0},
    {"get_mempolicy", SYS_get_mempolicy, 0, 0, 0},
    {"userfaultfd", SYS_userfaultfd, -1, 0, 0},
    {"sysinfo", SYS_sysinfo, 0, 0, 0},
    {"clone", SYS_clone, CLONE_SIGHAND, 0, 0},  // needs CLONE_VM: EINVAL
    {"exit", SYS_exit, 0, 0, 0},                // the last one: it ends the child
};
constexpr long kCount = sizeof kCalls / sizeof kCalls[0];

bool has_filter() {
    char text[8192];
    const long fd = sys::open("/proc/self/status", O_RDONLY);
    if (sys::failed(fd)) return false;
    const long got = sys::read(fd, text, sizeof text - 1);
    sys::close(fd);
    text[got > 0 ? got : 0] = 0;
    return strstr(text, "\nSeccomp:\t2") != nullptr;
}

}  // namespace

const char* forbidden_call(bool with_windows) {
    if (!has_filter()) return nullptr;
    const long page = sys::mmap(0, kPage4K, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    if (sys::failed(page)) return nullptr;
    volatile long* tried = reinterpret_cast<volatile long*>(page);
    // Its end sends no signal, so the program's SIGCHLD does not matter.
    const long child = sys::call(SYS_clone, 0);
    if (child == 0)
        for (long i = 0;; ++i) {
            if (kCalls[i].windows_only && !with_windows) continue;
            *tried = i;
            sys::call(kCalls[i].number, kCalls[i].a, kCalls[i].b, kCalls[i].c);
            if (i == kCount - 1) sys::exit_group(0);
        }
    int status = 0;
    const long ended = sys::failed(child) ? child : sys::call(SYS_wait4, child, reinterpret_cast<long>(&status), __WALL);
    const bool killed = ended == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
    const long last = *tried;
    sys::munmap(static_cast<uint64_t>(page), kPage4K);
    return killed ? kCalls[last].name : nullptr;
}

}  // namespace mosalloc
