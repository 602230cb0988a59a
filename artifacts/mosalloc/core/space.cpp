#include "core/space.h"

#include "core/advice.h"
#include "core/later.h"
#include "core/marking.h"

namespace mosalloc {

/// Steps that need the memory first: locking it, touching it. MAP_POPULATE guarantees nothing, so its result is ignored.
void Space::settle(Range addresses, const Request& request, Later* later) {
    const int populate = (request.prot & PROT_WRITE) != 0 ? advice::kPopulateWrite : advice::kPopulateRead;
    if (request.lock) lock_pages(*this, addresses, 0, later);
    if (request.populate) later->add_hint(SYS_madvise, addresses, populate);
}

long Space::take_back(long address, uint64_t bytes) {
    const uint64_t start = static_cast<uint64_t>(address);
    unmap({start, start + bytes});
    return -EAGAIN;  // mmap's error for MAP_LOCKED above the limit
}

long Space::map(uint64_t bytes, const Request& request, Later* later) {
    const long result = place(bytes, request.prot, request.no_reserve);
    served(MOSALLOC_POOL_ANON);
    const uint64_t start = static_cast<uint64_t>(result);
    if (!sys::failed(result)) settle({start, start + bytes}, request, later);
    return result;
}

/// The kernel's rule for MAP_POPULATE: private memory gets pages of its own, a shared mapping is only read.
void populate_later(Range addresses, int prot, int flags, Later* later) {
    const bool write = (prot & PROT_WRITE) != 0 && (flags & MAP_TYPE) == MAP_PRIVATE;
    const int advice = write ? advice::kPopulateWrite : advice::kPopulateRead;
    if ((flags & MAP_POPULATE) != 0) later->add_hint(SYS_madvise, addresses, advice);
}

long Space::map_file(uint64_t bytes, int prot, int flags, int fd, uint64_t offset, Later* later) {
    const long result = place_foreign(
        bytes, prot, [&](uint64_t at) { return sys::mmap(at, bytes, prot, (flags & ~MAP_POPULATE) | MAP_FIXED, fd, offset); });
    if (sys::failed(result)) return result;
    served(MOSALLOC_POOL_FILE);
    const uint64_t start = static_cast<uint64_t>(result);
    populate_later({start, start + bytes}, prot, flags, later);
    return result;
}

/// The kernel checks the limit on locked memory before it replaces anything.
bool may_lock(uint64_t bytes) {
    const long at = sys::mmap(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_LOCKED);
    if (!sys::failed(at)) sys::munmap(static_cast<uint64_t>(at), bytes);
    return at != -EAGAIN && at != -EPERM;
}

long Space::map_fixed(Range addresses, const Request& request, Later* later) {
    Pool* pool = holder(addresses);
    if (pool == nullptr) return refused(-EINVAL);
    const Range range = pool->offsets(addresses);
    if (!may_place(pool, range)) return refused(-ENOMEM);
    if (request.lock && !may_lock(addresses.bytes())) return -EAGAIN;
    const long result = pool->replace(range, request.prot, request.no_reserve);
    if (sys::failed(result)) return result;
    take(pool, range);
    served(pool);
    settle(addresses, request, later);
    return static_cast<long>(addresses.start);
}

long Space::map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset, Later* later) {
    flags = (flags & ~MAP_FIXED_NOREPLACE) | MAP_FIXED;
    const long result = put_foreign(addresses, prot,
                                    [&] { return sys::mmap(addresses.start, addresses.bytes(), prot, flags & ~MAP_POPULATE, fd, offset); });
    if (sys::failed(result)) return result;
    served(holder(addresses));
    populate_later(addresses, prot, flags, later);
    return result;
}

long Space::unmap(Range addresses) {
    return over(
        addresses, [&](Pool* pool, Range part) { return give(pool, part); },
        [](Range part) { return sys::munmap(part.start, part.bytes()); });
}

long Space::protect(Range addresses, int prot) {
    return over(
        addresses, [&](Pool* pool, Range part) { return pool->protect(part, prot); },
        [&](Range part) { return sys::mprotect(part.start, part.bytes(), prot); });
}

long Space::protect_with_key(Range addresses, int prot, int key) {
    const auto kernel = [&](Range part) {
        return sys::call(SYS_pkey_mprotect, static_cast<long>(part.start), static_cast<long>(part.bytes()), prot, key);
    };
    return over(
        addresses,
        [&](Pool* pool, Range part) -> long {
            const Range used{part.start, pool->pages().first_hole(part)};
            if (pool->touches_window(used) && sys::failed(pool->exchange().split(used))) return refused(-EINVAL);
            long result = used.empty() ? -ENOMEM : pool->protect(used, prot);
            if (!sys::failed(result)) result = kernel(pool->addresses(used));
            if (!sys::failed(result)) pool->mark_odd(used);
            return sys::failed(result) || used.end == part.end ? result : -ENOMEM;
        },
        kernel);
}

long Space::advise(Range addresses, int advice, Later* later) {
    return over(
        addresses, [&](Pool* pool, Range part) { return pool->advise(part, advice, later); },
        [&](Range part) { return later->add(SYS_madvise, part, advice); });
}

long Space::check_mapped(Range addresses) {
    return over(
        addresses, [](Pool* pool, Range part) -> long { return pool->pages().all_used(part) ? 0 : -ENOMEM; },
        [](Range) -> long { return 0; });
}

}  // namespace mosalloc
