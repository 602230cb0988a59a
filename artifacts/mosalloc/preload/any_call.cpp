// any_call.cpp - the code is assembly without a frame of its own, so that a clone with another stack returns there.
//
// Numbers that may concern the hooks are marked in a table; all others cost a compare and a load more than in libc.
#include "preload/any_call.h"

#include <cerrno>
#include <cstdint>
#include <linux/io_uring.h>
#include <sys/mman.h>

#include "core/pins.h"
#include "core/sys.h"
#include "core/text.h"
#include "preload/forks.h"
#include "preload/hooks.h"
#include "preload/marks.h"

#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450
#endif

extern "C" {
// Read by the assembly code.
unsigned char mosalloc_known_calls[512] = {};
int64_t mosalloc_errno_offset = 0;  // from the thread pointer; the same in every thread

__attribute__((naked)) void mosalloc_any_call() {
    __asm__(R"(
        cmp $511, %rdi
        ja 1f
        lea mosalloc_known_calls(%rip), %rax
        cmpb $0, (%rax,%rdi)
        jne mosalloc_known_call
    1:  mov %rdi, %rax
        mov %rsi, %rdi
        mov %rdx, %rsi
        mov %rcx, %rdx
        mov %r8, %r10
        mov %r9, %r8
        mov 8(%rsp), %r9
        syscall
        cmp $-4095, %rax
        jae 2f
        ret
    2:  mov mosalloc_errno_offset(%rip), %rcx
        neg %eax
        mov %eax, %fs:(%rcx)
        or $-1, %rax
        ret
    )");
}
}

namespace mosalloc {
namespace {

using Hook = long (*)(long, long, long, long, long, long);
enum Kind { kAlways, kOverPools };

/// The hooks of libc's functions take a system call's arguments in the same order.
struct Known {
    long number;
    const char* symbol;
    Kind kind;     ///< kOverPools: the kernel's, unless it concerns memory of the pools
    bool pointer;  ///< the hook returns one, else an int
    Hook hook;
};
Known g_known[] = {
    {SYS_madvise, "madvise", kAlways, false, nullptr},   {SYS_mlock, "mlock", kAlways, false, nullptr},
    {SYS_mlock2, "mlock2", kAlways, false, nullptr},     {SYS_munlock, "munlock", kAlways, false, nullptr},
    {SYS_mlockall, "mlockall", kAlways, false, nullptr}, {SYS_pkey_mprotect, "pkey_mprotect", kAlways, false, nullptr},
    {SYS_ioctl, "ioctl", kAlways, false, nullptr},       {SYS_prctl, "prctl", kAlways, false, nullptr},
    {SYS_shmat, "shmat", kAlways, true, nullptr},        {SYS_shmdt, "shmdt", kAlways, false, nullptr},
    {SYS_mmap, "mmap", kOverPools, true, nullptr},       {SYS_munmap, "munmap", kOverPools, false, nullptr},
    {SYS_mremap, "mremap", kOverPools, true, nullptr},   {SYS_mprotect, "mprotect", kOverPools, false, nullptr},
};

/// Not libc's symbol: the program may have a function of this name that calls `syscall`.
Hook find_hook(const char* symbol) {
    for (const auto table : {hooks, mark_hooks}) {
        size_t count;
        const Patch* patches = table(&count);
        for (size_t i = 0; i < count; ++i)
            if (same_text(patches[i].symbol, symbol)) return reinterpret_cast<Hook>(patches[i].replacement);
    }
    return nullptr;
}

bool over_pools(long start, long bytes) {
    const auto at = static_cast<uint64_t>(start), size = static_cast<uint64_t>(bytes == 0 ? 1 : bytes);
    return at + size > at && runtime().space.overlaps({at, at + size});
}

bool concerns_pools(long number, long a, long b, long c, long d, long e) {
    return over_pools(a, b) || (number == SYS_mremap && (d & MREMAP_FIXED) != 0 && over_pools(e, c));
}

constexpr uint32_t kWithoutDescriptor = 1u << 15;  // IORING_SETUP_REGISTERED_FD_ONLY, Linux 6.5

/// A ring without descriptor and mapping shows nowhere in /proc, so it is noted here.
long make_ring(long entries, long parameters) {
    const long ring = sys::call(SYS_io_uring_setup, entries, parameters);
    if (sys::failed(ring)) {
        errno = static_cast<int>(-ring);
        return -1;
    }
    if ((reinterpret_cast<const io_uring_params*>(parameters)->flags & kWithoutDescriptor) != 0) {
        const Entry entry;
        note_pin(MOSALLOC_PIN_IO_URING);
    }
    return ring;
}

}  // namespace

/// A marked number. Like `syscall`: the result, or -1 with errno.
__attribute__((force_align_arg_pointer)) long known_call(long number, long a, long b, long c, long d, long e,
                                                         long f) __asm__("mosalloc_known_call");

long known_call(long number, long a, long b, long c, long d, long e, long f) {
    for (const Known& known : g_known) {
        if (known.number != number) continue;
        if (known.kind == kOverPools && !concerns_pools(number, a, b, c, d, e)) break;
        const long result = known.hook(a, b, c, d, e, f);
        return known.pointer ? result : static_cast<int>(result);
    }
    return number == SYS_io_uring_setup ? make_ring(a, b) : policy_call(number, a, b, c, d, e, f);
}

void* any_call() { return reinterpret_cast<void*>(mosalloc_any_call); }

void prepare_any_call() {
    int64_t thread;
    __asm__("mov %%fs:0, %0" : "=r"(thread));
    mosalloc_errno_offset = reinterpret_cast<int64_t>(&errno) - thread;
    for (Known& known : g_known) {
        known.hook = find_hook(known.symbol);
        mosalloc_known_calls[known.number] = known.hook != nullptr ? 1 : 0;
    }
    mosalloc_known_calls[SYS_io_uring_setup] = mosalloc_known_calls[SYS_mbind] = mosalloc_known_calls[SYS_set_mempolicy_home_node] = 1;
}

}  // namespace mosalloc
