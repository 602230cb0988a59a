// calls.cpp - calls of the program (trace events) as calls of the imitation, and what they do to the pages in the log.
//
// Linux: MAP_STACK gives an area no huge pages (include/linux/mman.h calc_vm_flag_bits). MAP_POPULATE, MAP_LOCKED and mlock fault all
// pages, for writing where the area is writable (mm/gup.c populate_vma_page_range); that pages stay locked is not modelled. With
// MAP_NONBLOCK, MAP_POPULATE has no effect (mm/mmap.c do_mmap). MADV_POPULATE_READ only reads (mm/gup.c faultin_page_range). Advice
// without effect on anonymous pages in this imitation is counted as ignored. So are calls on files and outside the pools.
#include <sys/mman.h>

#include "driver/kernel.h"
#include "driver/refusal.h"

namespace tessera::os {
namespace {

constexpr uint32_t map_type = 0x0f, map_populate = 0x8000, map_locked = 0x2000, map_noreserve = 0x4000, map_stack = 0x20000,
                   map_nonblock = 0x10000, map_hugetlb = 0x40000;  // include/uapi/linux/mman.h, include/uapi/asm-generic/mman.h
constexpr uint32_t advice_dontneed = 4, advice_hugepage = 14, advice_nohugepage = 15, advice_populate_read = 22, advice_populate_write = 23,
                   advice_collapse = 25;                           // include/uapi/asm-generic/mman-common.h
constexpr uint32_t remap_dontunmap = 4, lock_onfault = 1;

std::string shown(const trace::Event& event) {
    return std::string(trace::name_of(event.kind)) + " at block " + std::to_string(event.block) + ", pool " + trace::name_of(event.pool) +
           ", offset " + std::to_string(event.offset_bytes) + ", length " + std::to_string(event.length_bytes);
}

uint64_t pages_in(uint64_t bytes) { return (bytes + 4095) >> 12; }

}  // namespace

void Kernel::checked(const trace::Event& event, const char* broken) const {
    if (broken == nullptr) return;
    throw Refusal(shown(event), std::string("the imitation refuses a call that succeeded: ") + broken + " [os/call]",
                  "record the program from its start, with all calls: tessera trace record --events --roi whole", 1);
}

Kernel::Place Kernel::place_of(trace::EventPool pool, const trace::Event& event) const {
    for (const Place& place : pools_)
        if (place.kind == static_cast<uint8_t>(pool)) return place;
    throw Refusal(shown(event), "the trace has no such pool [os/pool]", "record the program again");
}

void Kernel::call(At at, const trace::Event& event) {
    using enum trace::EventKind;
    const auto in_pools = [](trace::EventPool pool) { return pool == trace::EventPool::heap || pool == trace::EventPool::anon; };
    ++counts_.calls;
    if (!in_pools(event.pool) || (event.kind == remap && !in_pools(event.new_pool))) {
        ++counts_.ignored_calls;
        return;
    }
    const Place pool = place_of(event.pool, event);
    const uint64_t page = pool.first_page + (event.offset_bytes >> 12), pages = pages_in(event.length_bytes);
    if (pages > pool.pages || (event.offset_bytes >> 12) > pool.pages - pages)
        throw Refusal(shown(event), "the range ends outside its pool [os/pool]", "record the program again");
    switch (event.kind) {
        case map: this->map(at, event, page, pages); break;
        case unmap: {
            const auto large = large_at({page, page + pages});
            const bool held = !areas_free(&process_->areas, page, page + pages);
            checked(event, process_unmap(process_, page, pages, 0));
            log_splits(at, large);
            if (held) log_unmap(at, page, pages);
            break;
        }
        case remap: this->remap(at, event, page, pages); break;
        case protect: {
            const auto large = large_at({page, page + pages});
            checked(event, process_protect(process_, page, pages, event.protection & AREA_RIGHTS));
            log_splits(at, large);
            rights_.clear(page, pages);
            break;
        }
        case advise: this->advise(at, event, page, pages); break;
        case brk: break_up(at, event, pool.first_page, page + pages); break;
        case lock:
            if (!(event.flags & lock_onfault)) populate(at, page, pages);
            break;
        case unlock: break;
    }
    Record record{at.block, at.access, Kind::call};
    record.cause = static_cast<uint8_t>(event.kind);
    record.pages = pages;
    record.frame = process_->areas.count;
    put(at, record, page);
}

void Kernel::map(At at, const trace::Event& event, uint64_t page, uint64_t pages) {
    const uint32_t type = event.flags & map_type;
    if (event.file != 0 || type == MAP_SHARED || type == 3)
        throw Refusal(shown(event), "files and shared memory in the anonymous pool are not modelled [os/not-modelled]", "record the program again");
    if (event.flags & map_hugetlb)
        throw Refusal(shown(event), "MAP_HUGETLB needs a pool of hugetlbfs, which is not modelled [os/not-modelled]", "use a program that does not ask for it", 1);
    uint32_t flags = event.protection & AREA_RIGHTS;
    if (event.flags & map_noreserve) flags |= AREA_NORESERVE;
    if (event.flags & map_stack) flags |= AREA_NOHUGEPAGE;
    const auto large = large_at({page, page + pages});
    const bool held = !areas_free(&process_->areas, page, page + pages);
    checked(event, process_map(process_, page, pages, flags, 0, 0, 0));
    log_splits(at, large);
    if (held) log_unmap(at, page, pages);
    if ((event.flags & map_locked) || (event.flags & (map_populate | map_nonblock)) == map_populate) populate(at, page, pages);
}

void Kernel::remap(At at, const trace::Event& event, uint64_t page, uint64_t pages) {
    const Place target = place_of(event.new_pool, event);
    const uint64_t to = target.first_page + (event.new_offset_bytes >> 12), new_pages = pages_in(event.new_length_bytes);
    if (new_pages > target.pages || (event.new_offset_bytes >> 12) > target.pages - new_pages)
        throw Refusal(shown(event), "the new range ends outside its pool [os/pool]", "record the program again");
    if (event.flags & remap_dontunmap)
        throw Refusal(shown(event), "MREMAP_DONTUNMAP is not modelled [os/not-modelled]", "use a program that does not ask for it", 1);
    const bool moves = to != page;
    const auto large = moves ? large_at({page, page + pages, to, to + new_pages}) : large_at({page + new_pages});
    const bool held = moves && !areas_free(&process_->areas, to, to + new_pages);
    checked(event, process_remap(process_, page, pages, new_pages, to, 0));
    log_splits(at, large);
    if (!moves) {
        if (new_pages < pages) log_unmap(at, page + new_pages, pages - new_pages);
        return;
    }
    if (held) log_unmap(at, to, new_pages);
    log_unmap(at, page, pages);
    log_pages(at, to, new_pages);
}

void Kernel::advise(At at, const trace::Event& event, uint64_t page, uint64_t pages) {
    const auto large = large_at({page, page + pages});
    switch (event.flags) {
        case advice_dontneed: checked(event, process_advise(process_, page, pages, ADVICE_DONTNEED, 0)); break;
        case advice_hugepage: checked(event, process_advise(process_, page, pages, ADVICE_HUGEPAGE, 0)); break;
        case advice_nohugepage: checked(event, process_advise(process_, page, pages, ADVICE_NOHUGEPAGE, 0)); break;
        case advice_populate_read: populate(at, page, pages, false); return;
        case advice_populate_write: populate(at, page, pages); return;
        case advice_collapse:
            throw Refusal(shown(event), "MADV_COLLAPSE is not modelled [os/not-modelled]", "use a program that does not ask for it", 1);
        default: ++counts_.ignored_calls; return;
    }
    log_splits(at, large);
    if (event.flags == advice_dontneed) log_unmap(at, page, pages);
}

/// brk: the heap is [heap, end) from now on.
void Kernel::break_up(At at, const trace::Event& event, uint64_t heap, uint64_t end) {
    if (process_->heap_start == 0) checked(event, process_heap(process_, heap));
    const uint64_t old = process_->heap_end;
    const auto large = large_at({end});
    checked(event, process_brk(process_, end, 0));
    log_splits(at, large);
    if (end < old) log_unmap(at, end, old - end);
}

void Kernel::populate(At at, uint64_t page, uint64_t pages, bool may_write) {
    for (const uint64_t end = page + pages; page < end; ++page) {
        const area* area = areas_at(&process_->areas, page);
        if (area == nullptr || !(area->flags & AREA_RIGHTS)) continue;
        const bool write = may_write && (area->flags & AREA_WRITE);
        if (!rights_.allow(page << 12, write)) touch(at, page, write);
    }
}

}  // namespace tessera::os
