#include "preload/marks.h"

#include <cerrno>
#include <linux/mempolicy.h>
#include <sys/ioctl.h>

#include "core/layout.h"
#include "core/marking.h"
#include "core/sys.h"
#include "preload/any_call.h"
#include "preload/faults.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

namespace mosalloc {
namespace {

#define HOOK __attribute__((force_align_arg_pointer))  // as in hooks.cpp

long answer(long result) {
    if (!sys::failed(result)) return result;
    errno = static_cast<int>(-result);
    return -1;
}

long name_part(Range addresses, void* rest) {
    return sys::call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, static_cast<long>(addresses.start), static_cast<long>(addresses.bytes()),
                     reinterpret_cast<long>(rest));
}

HOOK int hook_ioctl(int fd, unsigned long request, void* argument) {
    if (__builtin_expect(_IOC_TYPE(request) == kUserfaultfdCalls, 0))
        return static_cast<int>(answer(call_userfaultfd(fd, request, argument)));
    // libc's ioctl looks at 32 bits of the result only.
    const int result = static_cast<int>(sys::call(SYS_ioctl, fd, static_cast<long>(request), reinterpret_cast<long>(argument)));
    return static_cast<int>(answer(result));
}

HOOK int hook_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    const Range pages = __builtin_expect(option == PR_SET_VMA && a == PR_SET_VMA_ANON_NAME, 0) ? pages_in_pools(b, c) : Range{};
    if (pages.empty())
        return static_cast<int>(
            answer(sys::call(SYS_prctl, option, static_cast<long>(a), static_cast<long>(b), static_cast<long>(c), static_cast<long>(d))));
    return static_cast<int>(answer(mark_in_pools(
        "prctl PR_SET_VMA", pages, [&](Space& space) { return set_name(space, pages, {name_part, reinterpret_cast<void*>(d)}); })));
}

HOOK void* hook_shmat(int id, const void* where, int flags) {
    const uint64_t address = reinterpret_cast<uint64_t>(where);
    long result;
    if (address == 0) {
        result = sys::call(SYS_shmat, id, 0, flags);
    } else {
        const Entry entry;
        result = attach(runtime().space, address, id, flags);
    }
    return reinterpret_cast<void*>(answer(result));
}

HOOK int hook_mlockall(int flags) {
    const long result = sys::call(SYS_mlockall, flags);
    if (!sys::failed(result) && (flags & (MCL_CURRENT | MCL_FUTURE)) == MCL_CURRENT) {
        const Entry entry;
        unlock_free(runtime().space);
    }
    return static_cast<int>(answer(result));
}

HOOK int hook_shmdt(const void* where) {
    const uint64_t address = reinterpret_cast<uint64_t>(where);
    if (!runtime().space.overlaps({address, address + 1}))
        return static_cast<int>(answer(sys::call(SYS_shmdt, static_cast<long>(address))));
    const Entry entry;
    return static_cast<int>(answer(detach(runtime().space, address)));
}

}  // namespace

long policy_call(long number, long a, long b, long c, long d, long e, long f) {
    const Range pages = pages_in_pools(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
    long allowed = 0;
    if (!pages.empty() && number == SYS_mbind) {
        const bool resets = (c & ~MPOL_MODE_FLAGS) == MPOL_DEFAULT;
        allowed = mark_in_pools("mbind", pages, [&](Space& space) { return allow_policy(space, pages, resets); });
    } else if (!pages.empty()) {
        allowed = mark_in_pools("set_mempolicy_home_node", pages, [&](Space& space) { return allow_home_node(space, pages); });
    }
    return answer(sys::failed(allowed) ? allowed : sys::call(number, a, b, c, d, e, f));
}

void tell_refused_mark(const char* call, Range addresses, uint64_t refused) {
    if (refused != 0 || runtime().map->refused_marks == 0) return;
    char line[512];
    Text text(line);
    text.add("mosalloc: ").add(call).add(" of ").size(addresses.bytes()).add(" at ").hex(addresses.start);
    for (uint64_t kind = 0; kind < kPools; ++kind) {
        const Range part = addresses.clip(runtime().space.pool(kind).span());
        if (part.empty()) continue;
        text.add(" (").add(kPoolNames[kind]).add(" pool, offset ").size(part.start - runtime().space.pool(kind).base()).add(")");
        break;
    }
    text.add(
        ": EINVAL, because a huge page there can't keep this for a part of itself\n  what to do: align address and "
        "length to the huge page (2MB), or place the window of the layout elsewhere\n");
    sys::write(2, line, text.length());
}

const Patch* mark_hooks(size_t* count) {
    static const Patch kHooks[] = {
        {"ioctl", reinterpret_cast<void*>(hook_ioctl), true}, {"prctl", reinterpret_cast<void*>(hook_prctl), true},
        {"shmat", reinterpret_cast<void*>(hook_shmat), true}, {"mlockall", reinterpret_cast<void*>(hook_mlockall), true},
        {"shmdt", reinterpret_cast<void*>(hook_shmdt), true}, {"syscall", any_call(), true},
    };
    *count = sizeof kHooks / sizeof kHooks[0];
    return kHooks;
}

}  // namespace mosalloc
