// marks.h - replacements of libc's functions that leave marks on mappings: ioctl (userfaultfd), prctl (names), shmat and
// shmdt, and `syscall`, through which libraries call mbind and other functions that their libc lacks.
#pragma once

#include "core/base.h"
#include "preload/forks.h"
#include "preload/hooks.h"
#include "preload/patch.h"

namespace mosalloc {

/// Symbol and replacement of each. All are optional: a libc without one of them has no such calls to see.
const Patch* mark_hooks(size_t* count);

/// mbind and set_mempolicy_home_node, which libc has no functions for. Like `syscall`: the result, or -1 with errno.
long policy_call(long number, long a, long b, long c, long d, long e, long f);

/// Prints once why the program gets EINVAL, if `refused` (the pool map's counter before the call) has grown.
void tell_refused_mark(const char* call, Range addresses, uint64_t refused);

/// Runs `call` over the pools under the lock, and says why if a huge page refuses the mark.
template <class F>
long mark_in_pools(const char* name, Range pages, F call) {
    const Entry entry;
    const uint64_t refused = runtime().map->refused_marks;
    const long result = call(runtime().space);
    runtime().space.publish();
    tell_refused_mark(name, pages, refused);
    return result;
}

}  // namespace mosalloc
