#include "core/space.h"

#include <cerrno>

#include "core/advice.h"
#include "core/areas.h"
#include "core/later.h"
#include "core/sys.h"
#include "core/table.h"

namespace mosalloc {
namespace {
/// Free ranges at most; the table costs memory only as far as it is used. A pool with more holes is full.
constexpr size_t kMaxHoles = 1 << 20;
}  // namespace

bool Space::init(const uint64_t (&bases)[kPools], const Layout& layout, const Policy& policy, mosalloc_pool_map* map) {
    for (size_t kind = 0; kind < kPools; ++kind) {
        if (!pools_[kind].init(bases[kind], layout.pool_bytes[kind], policy)) return false;
        if (kind == MOSALLOC_POOL_HEAP) continue;  // the break says what is free
        void* holes = make_table(FreeList::storage_bytes(kMaxHoles));
        if (holes == nullptr) return false;
        free_[kind].init(holes, kMaxHoles, layout.pool_bytes[kind]);
    }
    break_ = 0;
    most_holes_ = policy.most_holes;
    most_bytes_ = policy.most_bytes;
    map_ = map;
    return true;
}

bool Space::overlaps(Range addresses) const {
    for (const Pool& pool : pools_)
        if (addresses.overlaps(pool.span())) return true;
    return false;
}

Pool* Space::holder(Range addresses) {
    for (Pool& pool : pools_)
        if (pool.span().contains(addresses)) return &pool;
    return nullptr;
}

void Space::served(uint64_t kind) {
    mosalloc_pool& shown = out(kind);
    ++shown.calls;
    shown.live_bytes = kind == MOSALLOC_POOL_HEAP ? break_ : pools_[kind].bytes() - free_[kind].free_bytes();
    publish();
}

void Space::publish() {
    const PoolCounters &heap = pools_[MOSALLOC_POOL_HEAP].counters(), &anon = pools_[MOSALLOC_POOL_ANON].counters();
    map_->softened_protections = heap.softened_protections + anon.softened_protections;
    map_->ignored_advice = heap.ignored_advice + anon.ignored_advice;
    map_->zeroed_bytes = heap.zeroed_bytes + anon.zeroed_bytes;
    const PoolCounters& file = pools_[MOSALLOC_POOL_FILE].counters();
    map_->ended_marks = heap.ended_marks + anon.ended_marks + file.ended_marks;
    map_->refused_marks = heap.refused_marks + anon.refused_marks;
    map_->open_holes = heap.open_holes + anon.open_holes + file.open_holes;
    map_->missing_pages = heap.missing_pages + anon.missing_pages;
    map_->split_pages = heap.split_pages + anon.split_pages;
    map_->exchanged_pages = heap.exchanged_pages + anon.exchanged_pages;
    map_->unsplit_pages = heap.unsplit_pages + anon.unsplit_pages;
    for (size_t i = 0; i < MOSALLOC_UNSPLIT_COUNT; ++i) map_->unsplit_by[i] = heap.unsplit_by[i] + anon.unsplit_by[i];
    map_->pin_kinds = heap.pin_kinds | anon.pin_kinds;
    map_->split_pool_kind = anon.split_pages != 0 ? MOSALLOC_POOL_ANON : MOSALLOC_POOL_HEAP;
    map_->split_offset = anon.split_pages != 0 ? anon.first_split : heap.first_split;
}

long Space::refused(long error) {
    ++map_->refused_calls;
    return error;
}

/// Counts a request that does not fit; the launcher prints the pool size that would have been enough. `wanted`: without the
/// library the kernel would have given it, however large it is.
long Space::full(uint64_t kind, uint64_t bytes, bool wanted) {
    ++map_->full_calls[kind];
    if ((wanted || bytes <= most_bytes_) && map_->full_largest_bytes[kind] < bytes) map_->full_largest_bytes[kind] = bytes;
    return -ENOMEM;
}

void Space::take(Pool* pool, Range offsets) {
    mosalloc_pool& shown = out(kind_of(pool));
    if (!is_heap(pool)) list(pool).take(offsets);
    if (shown.used_bytes < offsets.end) shown.used_bytes = offsets.end;
}

long Space::give(Pool* pool, Range offsets) {
    if (!is_heap(pool) && !list(pool).has_room()) return -ENOMEM;
    uint64_t holes = 1;  // what is left of the heap pool
    for (const FreeList& free : free_) holes += free.count();
    const long result = pool->release(offsets, holes > most_holes_);
    if (is_heap(pool)) return result;
    if (!sys::failed(result)) list(pool).give(offsets);
    else
        pool->windows().for_each_part(offsets, [&](Range part, uint64_t) -> long {
            if (pool->none_used(part)) list(pool).give(part);  // what could be released before the error
            return 0;
        });
    return result;
}

/// Takes a place back where the kernel may have left a hole, or the mapping of another. If it cannot be reserved again,
/// nobody gets it any more.
void Space::restore(Pool* pool, Range offsets, int more_flags) {
    const uint64_t at = pool->base() + offsets.start;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (sys::failed(sys::mmap(at, offsets.bytes(), PROT_NONE, flags | more_flags)) || sys::failed(reserve_span(at, offsets.bytes())))
        take(pool, offsets);
    else if (!is_heap(pool)) list(pool).give(offsets);
}

/// Steps that need the memory first: locking it, touching it. MAP_POPULATE guarantees nothing, so its result is ignored.
void Space::settle(Range addresses, const Request& request, Later* later) {
    const int populate = (request.prot & PROT_WRITE) != 0 ? advice::kPopulateWrite : advice::kPopulateRead;
    if (request.lock) lock(addresses, 0, later);
    if (request.populate) later->add_hint(SYS_madvise, addresses, populate);
}

long Space::take_back(long address, uint64_t bytes) {
    const uint64_t start = static_cast<uint64_t>(address);
    unmap({start, start + bytes});
    return -EAGAIN;  // mmap's error for MAP_LOCKED above the limit
}

long Space::settled(long address, uint64_t bytes, Later* later) {
    return sys::failed(address) || !sys::failed(later->run()) ? address : take_back(address, bytes);
}

long Space::map(uint64_t bytes, const Request& request, Later* later) {
    const long result = place(bytes, request);
    served(MOSALLOC_POOL_ANON);
    const uint64_t start = static_cast<uint64_t>(result);
    if (!sys::failed(result)) settle({start, start + bytes}, request, later);
    return result;
}

long Space::map(uint64_t bytes, const Request& request) {
    Later later;
    return settled(map(bytes, request, &later), bytes, &later);
}

long Space::place(uint64_t bytes, const Request& request) {
    Pool& pool = pools_[MOSALLOC_POOL_ANON];
    FreeList& free = free_[MOSALLOC_POOL_ANON];
    uint64_t start;
    const bool uncounted = request.no_reserve || (request.prot & PROT_WRITE) == 0;  // as the kernel counts memory
    if (!free.take_first_fit(bytes, &start)) return full(MOSALLOC_POOL_ANON, bytes, uncounted);
    const Range range{start, start + bytes};
    const long result = pool.commit(range, request.prot, request.no_reserve);
    if (sys::failed(result)) {
        free.give(range);
        return result;
    }
    take(&pool, range);
    return static_cast<long>(pool.base() + start);
}

/// The kernel's rule for MAP_POPULATE: private memory gets pages of its own, a shared mapping is only read.
void populate_later(Range addresses, int prot, int flags, Later* later) {
    const bool write = (prot & PROT_WRITE) != 0 && (flags & MAP_TYPE) == MAP_PRIVATE;
    const int advice = write ? advice::kPopulateWrite : advice::kPopulateRead;
    if ((flags & MAP_POPULATE) != 0) later->add_hint(SYS_madvise, addresses, advice);
}

long Space::map_file(uint64_t bytes, int prot, int flags, int fd, uint64_t offset) {
    Later later;
    return settled(map_file(bytes, prot, flags, fd, offset, &later), bytes, &later);
}

long Space::map_file(uint64_t bytes, int prot, int flags, int fd, uint64_t offset, Later* later) {
    Pool& pool = pools_[MOSALLOC_POOL_FILE];
    FreeList& free = free_[MOSALLOC_POOL_FILE];
    uint64_t start;
    if (!free.take_first_fit(bytes, &start)) return full(MOSALLOC_POOL_FILE, bytes);
    const Range range{start, start + bytes};
    const long result = sys::mmap(pool.base() + start, bytes, prot, (flags & ~MAP_POPULATE) | MAP_FIXED, fd, offset);
    if (sys::failed(result)) {
        restore(&pool, range, MAP_FIXED);  // the kernel may have unmapped the span before it returned the error
        return result;
    }
    pool.adopt_foreign(range, prot);
    take(&pool, range);
    served(MOSALLOC_POOL_FILE);
    populate_later(pool.addresses(range), prot, flags, later);
    return result;
}

/// True if the program may place a mapping here. The heap ends at the break, and the next brk may extend it.
bool Space::owns(const Pool* pool, Range offsets) const { return !is_heap(pool) || offsets.end <= align_up(break_, kPage4K); }

bool Space::may_place(Pool* pool, Range offsets) { return owns(pool, offsets) && (is_heap(pool) || list(pool).has_room()); }

bool Space::vacant(Range addresses) {
    Pool* pool = holder(addresses);
    return pool != nullptr && !is_heap(pool) && list(pool).is_free(pool->offsets(addresses));
}

/// The kernel checks the limit on locked memory before it replaces anything.
bool may_lock(uint64_t bytes) {
    const long at = sys::mmap(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_LOCKED);
    if (!sys::failed(at)) sys::munmap(static_cast<uint64_t>(at), bytes);
    return at != -EAGAIN && at != -EPERM;
}

long Space::map_fixed(Range addresses, const Request& request) {
    Later later;
    return settled(map_fixed(addresses, request, &later), addresses.bytes(), &later);
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
    served(kind_of(pool));
    settle(addresses, request, later);
    return static_cast<long>(addresses.start);
}

long Space::map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset) {
    Later later;
    return settled(map_foreign(addresses, prot, flags, fd, offset, &later), addresses.bytes(), &later);
}

long Space::map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset, Later* later) {
    Pool* pool = holder(addresses);
    if (pool == nullptr) return refused(-EINVAL);
    const Range range = pool->offsets(addresses);
    if (!may_place(pool, range)) return refused(-ENOMEM);
    if (pool->touches_window(range) && sys::failed(pool->split(range))) return refused(-EINVAL);
    flags = (flags & ~MAP_FIXED_NOREPLACE) | MAP_FIXED;
    const long result = sys::mmap(addresses.start, addresses.bytes(), prot, flags & ~MAP_POPULATE, fd, offset);
    if (sys::failed(result)) {
        reclaim(pool, range);  // before Linux 6.12 the kernel may have unmapped it
        return result;
    }
    pool->adopt_foreign(range, prot);
    take(pool, range);
    served(kind_of(pool));
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
            const Range used{part.start, pool->first_hole(part)};
            if (pool->touches_window(used) && sys::failed(pool->split(used))) return refused(-EINVAL);
            long result = used.empty() ? -ENOMEM : pool->protect(used, prot);
            if (!sys::failed(result)) result = kernel(pool->addresses(used));
            if (!sys::failed(result)) pool->mark_odd(used);
            return sys::failed(result) || used.end == part.end ? result : -ENOMEM;
        },
        kernel);
}

long Space::advise(Range addresses, int advice) {
    Later later;
    const long planned = advise(addresses, advice, &later), made = later.run();
    return sys::failed(made) ? made : planned;
}

long Space::advise(Range addresses, int advice, Later* later) {
    return over(
        addresses, [&](Pool* pool, Range part) { return pool->advise(part, advice, later); },
        [&](Range part) { return later->add(SYS_madvise, part, advice); });
}

long Space::check_mapped(Range addresses) {
    return over(
        addresses, [](Pool* pool, Range part) -> long { return pool->all_used(part) ? 0 : -ENOMEM; }, [](Range) -> long { return 0; });
}

long Space::set_break(uint64_t address) {
    Pool& pool = pools_[MOSALLOC_POOL_HEAP];
    if (address < pool.base()) return -ENOMEM;
    const uint64_t wanted = address - pool.base();
    if (wanted > pool.bytes()) return full(MOSALLOC_POOL_HEAP, wanted);
    const uint64_t old_end = align_up(break_, kPage4K), end = align_up(wanted, kPage4K);
    const long result = end > old_end   ? pool.commit({old_end, end}, PROT_READ | PROT_WRITE)
                        : end < old_end ? pool.release({end, old_end})
                                        : 0;
    if (sys::failed(result)) return result;
    break_ = wanted;
    mosalloc_pool& shown = out(MOSALLOC_POOL_HEAP);
    if (shown.used_bytes < wanted) shown.used_bytes = wanted;
    served(MOSALLOC_POOL_HEAP);
    return 0;
}

}  // namespace mosalloc
