// marks.h - replacements of libc's functions that leave marks on mappings: ioctl (userfaultfd), prctl (names), shmat and
// shmdt, and `syscall`, through which libraries call mbind and other functions that their libc lacks.
#pragma once

#include "core/base.h"
#include "preload/patch.h"

namespace mosalloc {

/// Symbol and replacement of each. All are optional: a libc without one of them has no such calls to see.
const Patch* mark_hooks(size_t* count);

/// Prints once why the program gets EINVAL, if `refused` (the pool map's counter before the call) has grown.
void tell_refused_mark(const char* call, Range addresses, uint64_t refused);

}  // namespace mosalloc
