// any_call.cpp - `syscall` in assembly: it has no frame of its own, so that a clone with another stack returns there.
//
// Calls that may leave a mark are looked up in a table by their number; all others cost a compare and a load more than
// libc's code.
#include "preload/any_call.h"

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <sys/syscall.h>

#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450
#endif

extern "C" {
// Read by the assembly code.
constexpr unsigned kMosallocCalls = 512;
unsigned char mosalloc_marking_numbers[kMosallocCalls] = {};
int64_t mosalloc_errno_offset = 0;  // from the thread pointer; the same in every thread

__attribute__((naked)) void mosalloc_any_call() {
    __asm__(R"(
        cmp $511, %rdi
        ja 1f
        lea mosalloc_marking_numbers(%rip), %rax
        cmpb $0, (%rax,%rdi)
        jne mosalloc_marking_call
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

void* prepare_any_call() {
    int64_t thread;
    __asm__("mov %%fs:0, %0" : "=r"(thread));
    mosalloc_errno_offset = reinterpret_cast<int64_t>(&errno) - thread;
    for (const long number : {SYS_ioctl, SYS_madvise, SYS_shmat, SYS_shmdt, SYS_mlock, SYS_mlock2, SYS_munlock, SYS_mlockall, SYS_prctl,
                              SYS_mbind, SYS_pkey_mprotect, SYS_set_mempolicy_home_node})
        mosalloc_marking_numbers[number] = 1;
    return reinterpret_cast<void*>(mosalloc_any_call);
}

}  // namespace mosalloc
