// aside.h - runs a function in a task of its own, on a stack of its own, while the caller sleeps.
//
// While huge pages are exchanged, nobody may write to them. The caller's own stack and thread-local storage may lie
// in them: stacks of coroutines from malloc, pthread_attr_setstack, or `--stacks pool`. A private stack for the caller
// is not enough, because the kernel itself writes to the caller's thread-local storage (rseq) when it is scheduled again.
#pragma once

#include <cstring>
#include <type_traits>

#include "core/base.h"

namespace mosalloc {

using AsideJob = long (*)(void*);
/// As run_aside below; `argument` must not lie on the caller's stack.
long run_aside_raw(AsideJob job, void* argument);
/// Where run_aside keeps the job; aligned for any type.
constexpr size_t kAsideBytes = 128;
void* aside_storage();
/// Inside a job: number of the task that waits for it; else 0.
uint64_t aside_caller();

/// Returns job(), or -errno of clone if the kernel starts no task. The caller holds the lock of the pools and blocks
/// signals. The job may read the caller's stack, but must not write to it.
template <class Job>
long run_aside(const Job& job) {
    static_assert(sizeof(Job) <= kAsideBytes && std::is_trivially_copyable<Job>::value, "a small lambda without owners");
    memcpy(aside_storage(), &job, sizeof job);
    return run_aside_raw([](void* at) -> long { return (*static_cast<Job*>(at))(); }, aside_storage());
}

}  // namespace mosalloc
