// calls.cpp - calls of the program (trace events) as calls of the imitation, and what they do to the pages in the log.
//
// Linux: MAP_STACK gives an area no huge pages (include/linux/mman.h calc_vm_flag_bits). MAP_POPULATE, MAP_LOCKED and mlock fault all
// pages, for writing where the area is writable (mm/gup.c populate_vma_page_range); that pages stay locked is not modelled. With
// MAP_NONBLOCK, MAP_POPULATE has no effect (mm/mmap.c do_mmap). MADV_POPULATE_READ only reads (mm/gup.c faultin_page_range). Advice
// without effect in this imitation is counted as ignored. So are calls on shared memory, and calls outside the pools that are not about huge
// pages (MAP_HUGETLB).
#include "driver/calls.h"

#include <sys/mman.h>

#include <algorithm>

#include "driver/refusal.h"
#include "driver/timers.h"
#include "tessera/trace/pools.h"

namespace tessera::os {

using trace::pages_in;

namespace {

constexpr uint32_t map_type = 0x0f, map_populate = 0x8000, map_locked = 0x2000, map_noreserve = 0x4000, map_stack = 0x20000,
                   map_nonblock = 0x10000;  // include/uapi/linux/mman.h, include/uapi/asm-generic/mman.h
constexpr uint32_t advice_dontneed = 4, advice_hugepage = 14, advice_nohugepage = 15, advice_populate_read = 22, advice_populate_write = 23,
                   advice_collapse = 25;  // include/uapi/asm-generic/mman-common.h
constexpr uint32_t remap_dontunmap = 4, lock_onfault = 1;

std::string shown(const trace::Event &event) {
    return std::string(trace::name_of(event.kind)) + " at block " + std::to_string(event.block) + ", pool " + trace::name_of(event.pool) +
           ", offset " + std::to_string(event.offset_bytes) + ", length " + std::to_string(event.length_bytes);
}

}  // namespace

void Calls::checked(const char *broken) const {
    if (broken == nullptr) return;
    throw Refusal(shown(*event_), std::string("the imitation refuses a call that succeeded: ") + broken + " [os/call]",
                  "record the program from its start, with all calls: tessera trace record --events --roi whole", 1);
}

/// A range of a place that is not modelled any more: its pages are always mapped. In a pool of the trace, nothing may use it.
void Calls::forget(const Place &place, uint64_t page, uint64_t pages) {
    if (place.strict()) recorder_.rights().clear(page, pages);
    else recorder_.rights().set(page, pages, Rights::load | Rights::store);
}

/// The parts of a range that areas cover; in pools of the trace, the range as it is.
template <class Work>
void Calls::each_part(const Place &place, uint64_t page, uint64_t pages, Work &&work) {
    if (place.strict()) return work(page, pages);
    for (const uint64_t end = page + pages; page < end;) {
        const size_t index = areas_from(&process_->areas, page);
        if (index == process_->areas.count || process_->areas.item[index].start >= end) return;
        const uint64_t first = std::max(page, process_->areas.item[index].start), stop = std::min(end, process_->areas.item[index].end);
        work(first, stop - first);
        page = stop;
    }
}

void Calls::call(At at, const trace::Event &event) {
    using enum trace::EventKind;
    at_ = at, event_ = &event;
    ++counts_.calls;
    uint64_t page = 0;
    const uint64_t pages = event.kind == trace::EventKind::map ? mapped_pages(event) : pages_in(event.length_bytes);
    const Place *place = places_.find(event.pool, event.offset_bytes, pages, page);
    if (place == nullptr) {
        if (event.pool == trace::EventPool::heap || event.pool == trace::EventPool::anon)
            throw Refusal(shown(event), "the range ends outside its pool [os/pool]", "record the program again");
        ++counts_.ignored_calls;
        return;
    }
    recorder_.stand(at);
    recorder_.begin_call(event.kind, page, pages);
    switch (event.kind) {
        case map: this->map(event, *place, page, pages); break;
        case unmap: this->unmap(*place, page, pages); break;
        case remap: this->remap(event, *place, page, pages); break;
        case protect: each_part(*place, page, pages, [&](uint64_t first, uint64_t count) { this->protect(first, count); }); break;
        case advise: each_part(*place, page, pages, [&](uint64_t first, uint64_t count) { this->advise(first, count); }); break;
        case brk: break_up(place->first_page, page + pages); break;
        case lock:
            if (!(event.flags & lock_onfault)) populate(page, pages);
            break;
        case unlock: break;
    }
    run_kswapd(machine_, recorder_, at);
    recorder_.stand(at);
    recorder_.end_call(event.kind, page, pages);
}

void Calls::map(const trace::Event &event, const Place &place, uint64_t page, uint64_t pages) {
    const uint32_t type = event.flags & map_type;
    const bool shared = type == MAP_SHARED || type == MAP_SHARED_VALIDATE, of_file = event.file != 0, huge = wants_huge_pages(event);
    if (shared && (place.strict() || huge) && (!of_file || huge))
        throw Refusal(shown(event), "shared memory here is not modelled [os/not-modelled]", "record the program again", 1);
    if (!of_file && !huge && !place.strict()) {  // shared memory, or something else outside
        unmap(place, page, pages);
        ++counts_.ignored_calls;
        return;
    }
    uint32_t flags = event.protection & AREA_RIGHTS;
    if (event.flags & map_noreserve) flags |= AREA_NORESERVE;
    if (event.flags & map_stack) flags |= AREA_NOHUGEPAGE;
    if (shared) flags |= AREA_SHARED;
    const bool held = !areas_free(&process_->areas, page, page + pages);
    if (held) {
        checked(process_unmap(process_, page, pages, 0));
        recorder_.unmapped(page, pages);
    }
    if (huge) map_huge(event, page, pages, flags);
    else checked(process_map(process_, page, pages, flags, event.file, event.file_offset_bytes >> 12, 0));
    recorder_.rights().clear(page, pages);
    if ((event.flags & map_locked) || (event.flags & (map_populate | map_nonblock)) == map_populate) populate(page, pages);
}

void Calls::map_huge(const trace::Event &event, uint64_t page, uint64_t pages, uint32_t flags) {
    const hugetlb_size size = huge_page_size(event);
    const hugetlb_pool &pool = machine_.system.hugetlb.pool[size];
    const uint64_t wanted = pages >> hugetlb_order(size), spare = pool.count - pool.reserved;
    if (!(flags & AREA_NORESERVE) && wanted > spare)
        throw Refusal("scenario " + scenario_.name + ": " + shown(event),
                      "mmap asks for " + std::to_string(wanted) + " huge pages, and the pool has " + std::to_string(spare) +
                          " that are free and not promised: ENOMEM, where the recorded program went on [os/hugetlb]",
                      std::string("give the scenario more hugetlb.pages_") + (size == HUGETLB_1GB ? "1gb" : "2mb"), 1);
    checked(hugetlb_map(process_, page, pages, flags, size, 0));
}

void Calls::unmap(const Place &place, uint64_t page, uint64_t pages) {
    const bool held = !areas_free(&process_->areas, page, page + pages);
    if (held) checked(process_unmap(process_, page, pages, 0));
    if (held) recorder_.unmapped(page, pages);
    forget(place, page, pages);
}

void Calls::remap(const trace::Event &event, const Place &place, uint64_t page, uint64_t pages) {
    const uint64_t new_pages = pages_in(event.new_length_bytes);
    uint64_t to = 0;
    const Place *target = places_.find(event.new_pool, event.new_offset_bytes, new_pages, to);
    const area *area = areas_at(&process_->areas, page);
    if (target == nullptr) throw Refusal(shown(event), "the new range ends outside its pool [os/pool]", "record the program again");
    if (area == nullptr && !place.strict()) {  // shared memory
        forget(*target, to, new_pages);
        ++counts_.ignored_calls;
        return;
    }
    if (event.flags & remap_dontunmap)
        throw Refusal(shown(event), "MREMAP_DONTUNMAP is not modelled [os/not-modelled]", "use a program that does not ask for it", 1);
    if (area != nullptr && area->flags & AREA_HUGETLB)
        throw Refusal(shown(event), "mremap of huge pages (MAP_HUGETLB) is not modelled [os/not-modelled]",
                      "use a program that does not ask for it", 1);
    const bool moves = to != page;
    const bool held = moves && !areas_free(&process_->areas, to, to + new_pages);
    if (moves) recorder_.begin_move(page, pages);
    checked(process_remap(process_, page, pages, new_pages, to, 0));
    if (!moves) {
        if (new_pages < pages) recorder_.unmapped(page + new_pages, pages - new_pages), forget(place, page + new_pages, pages - new_pages);
        else recorder_.rights().clear(page + pages, new_pages - pages);
        return;
    }
    if (held) recorder_.unmapped(to, new_pages);
    recorder_.unmapped(page, pages);
    forget(place, page, pages);
    recorder_.rights().clear(to, new_pages);
    recorder_.end_move(to, new_pages);
}

void Calls::protect(uint64_t page, uint64_t pages) {
    checked(process_protect(process_, page, pages, event_->protection & AREA_RIGHTS));
    recorder_.rights().clear(page, pages);
}

void Calls::advise(uint64_t page, uint64_t pages) {
    switch (event_->flags) {
        case advice_dontneed: checked(process_advise(process_, page, pages, ADVICE_DONTNEED, 0)); break;
        case advice_hugepage: checked(process_advise(process_, page, pages, ADVICE_HUGEPAGE, 0)); break;
        case advice_nohugepage: checked(process_advise(process_, page, pages, ADVICE_NOHUGEPAGE, 0)); break;
        case advice_populate_read: populate(page, pages, false); return;
        case advice_populate_write: populate(page, pages); return;
        case advice_collapse:
            throw Refusal(shown(*event_), "MADV_COLLAPSE is not modelled [os/not-modelled]", "use a program that does not ask for it", 1);
        default: ++counts_.ignored_calls; return;
    }
    if (event_->flags == advice_dontneed) recorder_.unmapped(page, pages);
}

/// brk: the heap is [heap, end) from now on.
void Calls::break_up(uint64_t heap, uint64_t end) {
    if (process_->heap_start == 0) checked(process_heap(process_, heap));
    const uint64_t old = process_->heap_end;
    checked(process_brk(process_, end, 0));
    if (end < old) recorder_.unmapped(end, old - end);
}

void Calls::populate(uint64_t page, uint64_t pages, bool may_write) {
    for (const uint64_t end = page + pages; page < end; ++page) {
        const area *area = areas_at(&process_->areas, page);
        if (area == nullptr || !(area->flags & AREA_RIGHTS)) continue;
        const bool write = may_write && (area->flags & AREA_WRITE);
        if (!recorder_.rights().allow(page << 12, write)) accesses_.access(at_, page, write, 0, true);
    }
}

}  // namespace tessera::os
