// asleep.h - whether the other threads of this process sleep in system calls that do not concern some memory.
#pragma once

#include "core/base.h"

namespace mosalloc {

/// True if each other thread sleeps in a system call, none of its arguments points into `addresses`, and its stack is far
/// from there. The calling task and the one that it works for (aside.h) are left out. False where /proc does not say.
/// Cost: three system calls for each thread.
bool others_sleep(Range addresses);

}  // namespace mosalloc
