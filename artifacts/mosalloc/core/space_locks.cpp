// space_locks.cpp - mlock and munlock over pool memory.
#include <cerrno>

#include "core/areas.h"
#include "core/later.h"
#include "core/space.h"
#include "core/sys.h"

namespace mosalloc {
namespace {
constexpr int kLockOnFault = 1;  // MLOCK_ONFAULT
}

/// The kernel locks mapped pages up to a hole, but does not populate them. So this makes a real hole for the call. A huge
/// page cannot have a hole, but hugetlb pages are never swapped anyway.
template <class Kernel>
void Space::lock_up_to_hole(Pool* pool, Range used, Kernel kernel) {
    const Range hole{used.end, used.end + kPage4K};
    if (pool->touches_window(hole)) {
        kernel(pool->addresses(used), kLockOnFault);
        return;
    }
    // An open hole is inside a mapping; at the limit on mappings the kernel cannot make this one.
    if (pool->any_open(hole) || sys::failed(sys::munmap(pool->base() + hole.start, kPage4K))) {
        kernel(pool->addresses(used), kLockOnFault);
        return;
    }
    kernel(pool->addresses({used.start, hole.end}), 0);
    restore(pool, hole, MAP_FIXED_NOREPLACE);
}

long Space::lock(Range addresses, int flags) {
    Later later;
    const long planned = lock(addresses, flags, &later), made = later.run();
    return sys::failed(made) ? made : planned;
}

long Space::lock(Range addresses, int flags, Later* later) {
    const auto add = [&](Range part) { return later->add(flags == 0 ? SYS_mlock : SYS_mlock2, part, flags); };
    const auto kernel = [](Range part, int how) {
        const long at = static_cast<long>(part.start), bytes = static_cast<long>(part.bytes());
        return how == 0 ? sys::call(SYS_mlock, at, bytes) : sys::call(SYS_mlock2, at, bytes, how);
    };
    return over(
        addresses,
        [&](Pool* pool, Range part) -> long {
            const Range used{part.start, pool->first_hole(part)};
            pool->mark_odd(used);
            if (used.end == part.end) return add(pool->addresses(used));
            if (!used.empty()) lock_up_to_hole(pool, used, kernel);
            return -ENOMEM;
        },
        add);
}

long Space::unlock(Range addresses) {
    const auto kernel = [](Range part) { return sys::call(SYS_munlock, static_cast<long>(part.start), static_cast<long>(part.bytes())); };
    return over(
        addresses,
        [&](Pool* pool, Range part) -> long {
            const Range used{part.start, pool->first_hole(part)};
            const long result = used.empty() ? 0 : kernel(pool->addresses(used));
            return sys::failed(result) || used.end == part.end ? result : -ENOMEM;
        },
        kernel);
}

}  // namespace mosalloc
