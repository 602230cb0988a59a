#include "core/aside.h"

#include <cerrno>
#include <linux/futex.h>
#include <linux/sched.h>

#include "core/sys.h"

namespace mosalloc {
namespace {

constexpr size_t kStackBytes = 64 << 10;

// Static: one job at a time, since its caller holds the lock of the pools.
alignas(64) unsigned char g_stack[kStackBytes];
alignas(64) unsigned char g_storage[kAsideBytes];
AsideJob g_job = nullptr;
void* g_argument = nullptr;
long g_result = 0;
uint64_t g_caller = 0;
uint32_t g_running = 0;  ///< the kernel clears it and wakes the caller when the task has ended

void run_job() { g_result = g_job(g_argument); }

/// A thread as pthread_create makes it, but it shares the caller's thread-local storage, which it must not write to.
/// Returns its number or -errno; the new task calls run_job and ends.
__attribute__((noinline)) long start_task() {
    constexpr long kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    void (**top)() = reinterpret_cast<void (**)()>(g_stack + kStackBytes - 16);
    *top = run_job;
    register uint32_t* cleared __asm__("r10") = &g_running;
    register long storage __asm__("r8") = 0;
    long result;
    __asm__ volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xor %%ebp, %%ebp\n\t"
        "call *(%%rsp)\n\t"
        "xor %%edi, %%edi\n\t"
        "mov %[exit], %%eax\n\t"
        "syscall\n\t"
        "hlt\n"
        "1:"
        : "=a"(result)
        : "a"(SYS_clone), "D"(kFlags), "S"(top), "d"(0L), "r"(cleared), "r"(storage), [exit] "i"(SYS_exit)
        : "rcx", "r11", "memory");
    return result;
}

}  // namespace

void* aside_storage() { return g_storage; }
uint64_t aside_caller() { return g_caller; }

long run_aside_raw(AsideJob job, void* argument) {
    g_job = job;
    g_argument = argument;
    g_caller = static_cast<uint64_t>(sys::call(SYS_gettid));
    __atomic_store_n(&g_running, 1, __ATOMIC_RELEASE);
    const long task = start_task();
    // Not FUTEX_PRIVATE_FLAG: the kernel wakes without it.
    while (!sys::failed(task) && __atomic_load_n(&g_running, __ATOMIC_ACQUIRE) != 0)
        sys::call(SYS_futex, reinterpret_cast<long>(&g_running), FUTEX_WAIT, 1);
    g_caller = 0;
    return sys::failed(task) ? task : g_result;
}

}  // namespace mosalloc
