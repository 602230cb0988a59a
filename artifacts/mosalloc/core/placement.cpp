#include "core/placement.h"

#include "core/table.h"

namespace mosalloc {
namespace {
/// Free ranges at most; the table costs memory only as far as it is used. A pool with more holes is full.
constexpr size_t kMaxHoles = 1 << 20;
}  // namespace

bool Placement::init(const uint64_t (&bases)[kPools], const Layout& layout, const Policy& policy, mosalloc_pool_map* map) {
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

bool Placement::overlaps(Range addresses) const {
    for (const Pool& pool : pools_)
        if (addresses.overlaps(pool.span())) return true;
    return false;
}

Pool* Placement::holder(Range addresses) {
    for (Pool& pool : pools_)
        if (pool.span().contains(addresses)) return &pool;
    return nullptr;
}

void Placement::served(uint64_t kind) {
    mosalloc_pool& shown = out(kind);
    ++shown.calls;
    shown.live_bytes = kind == MOSALLOC_POOL_HEAP ? break_ : pools_[kind].bytes() - free_[kind].free_bytes();
    publish();
}

void Placement::publish() {
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

long Placement::refused(long error) {
    ++map_->refused_calls;
    return error;
}

long Placement::full(uint64_t kind, uint64_t bytes, bool wanted) {
    ++map_->full_calls[kind];
    if ((wanted || bytes <= most_bytes_) && map_->full_largest_bytes[kind] < bytes) map_->full_largest_bytes[kind] = bytes;
    return -ENOMEM;
}

long Placement::place(uint64_t bytes, int prot, bool no_reserve) {
    const bool uncounted = no_reserve || (prot & PROT_WRITE) == 0;  // as the kernel counts memory
    return place_lowest(
        MOSALLOC_POOL_ANON, bytes, uncounted, [&](Range range) { return pools_[MOSALLOC_POOL_ANON].commit(range, prot, no_reserve); },
        [&](Range range) { free_[MOSALLOC_POOL_ANON].give(range); });
}

void Placement::take(const Pool* pool, Range offsets) {
    mosalloc_pool& shown = out(kind_of(pool));
    if (!is_heap(pool)) free_[kind_of(pool)].take(offsets);
    if (shown.used_bytes < offsets.end) shown.used_bytes = offsets.end;
}

long Placement::give(Pool* pool, Range offsets) {
    FreeList& list = free_[kind_of(pool)];
    if (!has_room(pool)) return -ENOMEM;
    uint64_t holes = 1;  // what is left of the heap pool
    for (const FreeList& free : free_) holes += free.count();
    const long result = pool->release(offsets, holes > most_holes_);
    if (is_heap(pool)) return result;
    if (!sys::failed(result)) list.give(offsets);
    else
        pool->windows().for_each_part(offsets, [&](Range part, uint64_t) -> long {
            if (!pool->pages().any_used(part)) list.give(part);  // what could be released before the error
            return 0;
        });
    return result;
}

void Placement::restore(Pool* pool, Range offsets, int more_flags) {
    const uint64_t at = pool->base() + offsets.start;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (sys::failed(sys::mmap(at, offsets.bytes(), PROT_NONE, flags | more_flags)) || sys::failed(reserve_span(at, offsets.bytes())))
        take(pool, offsets);
    else if (!is_heap(pool)) free_[kind_of(pool)].give(offsets);
}

void Placement::reclaim(Pool* pool, Range range) {
    const uint64_t at = pool->base() + range.start;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    const long got = sys::mmap(at, range.bytes(), PROT_NONE, flags);
    if (got == static_cast<long>(at)) {
        pool->exchange().forget_huge_pages(range);
        pool->mark_odd(range);
        give(pool, range);
        return;
    }
    if (!sys::failed(got)) sys::munmap(static_cast<uint64_t>(got), range.bytes());  // a kernel before Linux 4.17
    const auto whole = [&] {  // no hole in it; MS_ASYNC does nothing else
        return !sys::failed(sys::call(SYS_msync, static_cast<long>(at), static_cast<long>(range.bytes()), MS_ASYNC));
    };
    if (range.bytes() == kPage4K || whole()) return;
    const uint64_t middle = range.start + align_up(range.bytes() / 2, kPage4K);
    reclaim(pool, {range.start, middle});
    reclaim(pool, {middle, range.end});
}

void Placement::adopt_child() {
    for (Pool& pool : pools_) {
        pool.pages().for_each_run_with(pool.pages().unforked(), kUnforked, [&](Range run) -> long {
            reclaim(&pool, run);
            return 0;
        });
    }
}

bool Placement::may_place(const Pool* pool, Range offsets) const {
    return is_heap(pool) ? offsets.end <= align_up(break_, kPage4K) : has_room(pool);
}

bool Placement::vacant(Range addresses) {
    const Pool* pool = holder(addresses);
    return pool != nullptr && is_free(pool, pool->offsets(addresses));
}

long Placement::set_break(uint64_t address) {
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
