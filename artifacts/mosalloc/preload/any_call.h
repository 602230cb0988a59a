// any_call.h - replacement of libc's `syscall`.
#pragma once

namespace mosalloc {

/// Code that does what libc's `syscall` does, but gives the calls that may mark a mapping to marking_call().
void* prepare_any_call();

/// In marks.cpp. Like `syscall`: the result, or -1 with errno.
long marking_call(long number, long a, long b, long c, long d, long e, long f) __asm__("mosalloc_marking_call");

}  // namespace mosalloc
