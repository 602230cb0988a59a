// any_call.h - replacement of libc's `syscall`.
//
// Libraries call through it what their libc has no function for (mbind, mlock2), and wrappers of mmap and munmap call it
// instead of libc's functions. Calls that leave marks, and calls over the memory of pools, go to the hooks.
#pragma once

namespace mosalloc {

/// Code that does what libc's `syscall` does for all other calls.
void* any_call();
/// Before libc is patched: finds the hooks.
void prepare_any_call();

}  // namespace mosalloc
