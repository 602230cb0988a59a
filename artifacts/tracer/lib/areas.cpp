#include "tessera/trace/areas.h"

#include <sys/mman.h>

#include <algorithm>
#include <initializer_list>

#include "bytes.h"

namespace tessera::trace {
namespace {

constexpr uint32_t keeps_old_range = 4;  // MREMAP_DONTUNMAP, Linux 5.7

constexpr uint64_t bit(int advice) { return uint64_t{1} << advice; }

/// Advice that lasts. Of each group one holds at a time; the first one is how an area begins.
constexpr struct {
    std::initializer_list<int> numbers;
} lasting[] = {{{MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL}},
               {{-1, MADV_HUGEPAGE, MADV_NOHUGEPAGE}},
               {{MADV_UNMERGEABLE, MADV_MERGEABLE}},
               {{MADV_DOFORK, MADV_DONTFORK}},
               {{MADV_DODUMP, MADV_DONTDUMP}},
               {{MADV_KEEPONFORK, MADV_WIPEONFORK}}};

uint64_t advised(uint64_t held, uint32_t advice) {
    for (const auto& group : lasting) {
        const auto at = std::find(group.numbers.begin(), group.numbers.end(), static_cast<int>(advice));
        if (at == group.numbers.end()) continue;
        for (const int number : group.numbers)
            if (number >= 0) held &= ~bit(number);
        return at == group.numbers.begin() ? held : held | bit(static_cast<int>(advice));
    }
    return held;
}

}  // namespace

/// Makes `at` a border of areas.
void Areas::split(List& list, uint64_t at) {
    auto next = list.upper_bound(at);
    if (next == list.begin()) return;
    auto& [begin, area] = *std::prev(next);
    if (begin == at || area.end <= at) return;
    Area tail = area;
    if (tail.file != 0) tail.file_offset_bytes += at - begin;
    area.end = at;
    list.emplace(at, tail);
}

void Areas::erase(List& list, uint64_t begin, uint64_t end) {
    split(list, begin);
    split(list, end);
    list.erase(list.lower_bound(begin), list.lower_bound(end));
}

template <typename Change>
void Areas::change(const Event& e, Change change) {
    List& list = lists_[static_cast<uint8_t>(e.pool)];
    const uint64_t end = e.offset_bytes + e.length_bytes;
    split(list, e.offset_bytes);
    split(list, end);
    for (auto at = list.lower_bound(e.offset_bytes); at != list.end() && at->first < end; ++at) change(at->second);
}

/// The new range gets the areas of the old one, and as much of the last one as is missing. An old length of 0 makes a
/// second view of the shared memory there.
void Areas::move(const Event& e) {
    List &from = lists_[static_cast<uint8_t>(e.pool)], &to = lists_[static_cast<uint8_t>(e.new_pool)];
    const bool copies = e.length_bytes == 0;
    const uint64_t old_end = e.offset_bytes + (copies ? page_bytes : e.length_bytes), new_end = e.new_offset_bytes + e.new_length_bytes;
    split(from, e.offset_bytes);
    split(from, old_end);
    std::vector<std::pair<uint64_t, Area>> moved(from.lower_bound(e.offset_bytes), from.lower_bound(old_end));
    if (!copies && (e.flags & keeps_old_range) == 0) erase(from, e.offset_bytes, old_end);
    erase(to, e.new_offset_bytes, new_end);
    for (auto& [begin, area] : moved) {
        const bool last = &area == &moved.back().second;
        begin = begin - e.offset_bytes + e.new_offset_bytes;
        area.end = last && area.end == old_end ? new_end : std::min(area.end - e.offset_bytes + e.new_offset_bytes, new_end);
        area.by_brk = false;
        if (begin < area.end) to.insert_or_assign(begin, area);
    }
}

void Areas::set_break(uint64_t bytes) {
    List& list = lists_[static_cast<uint8_t>(EventPool::heap)];
    const auto up = [](uint64_t b) { return (b + page_bytes - 1) / page_bytes * page_bytes; };
    const uint64_t before = up(break_bytes_), now = up(bytes);
    if (now < before) erase(list, now, before);
    if (now > before) {
        erase(list, before, now);
        Area area;
        area.end = now;
        area.protection = PROT_READ | PROT_WRITE;
        area.flags = MAP_PRIVATE | MAP_ANONYMOUS;
        area.by_brk = true;
        list.insert_or_assign(before, area);
    }
    break_bytes_ = bytes;
}

void Areas::apply(const Event& e) {
    List& list = lists_[static_cast<uint8_t>(e.pool)];
    switch (e.kind) {
        case EventKind::map: {
            erase(list, e.offset_bytes, e.offset_bytes + e.length_bytes);
            Area area;
            area.end = e.offset_bytes + e.length_bytes;
            area.protection = e.protection;
            area.flags = e.flags;
            area.file = e.file;
            area.file_offset_bytes = e.file_offset_bytes;
            area.is_locked = (e.flags & MAP_LOCKED) != 0;
            list.insert_or_assign(e.offset_bytes, area);
            break;
        }
        case EventKind::unmap: erase(list, e.offset_bytes, e.offset_bytes + e.length_bytes); break;
        case EventKind::remap: move(e); break;
        case EventKind::protect: change(e, [&](Area& area) { area.protection = e.protection; }); break;
        case EventKind::advise: change(e, [&](Area& area) { area.advice = advised(area.advice, e.flags); }); break;
        case EventKind::brk: set_break(e.length_bytes); break;
        case EventKind::lock: change(e, [&](Area& area) { area.is_locked = true, area.lock_flags = e.flags; }); break;
        case EventKind::unlock: change(e, [&](Area& area) { area.is_locked = false, area.lock_flags = 0; }); break;
    }
}

/// Whether one area may stand for both. `begin` is the first offset of the one before.
bool Areas::continues(uint64_t begin, const Area& before, const Area& area) {
    const uint64_t file_offset = before.file == 0 ? 0 : before.file_offset_bytes + (before.end - begin);
    return before.protection == area.protection && before.flags == area.flags && before.file == area.file &&
           file_offset == area.file_offset_bytes && before.advice == area.advice && before.is_locked == area.is_locked &&
           before.lock_flags == area.lock_flags && before.by_brk == area.by_brk;
}

std::vector<std::pair<uint64_t, uint64_t>> Areas::mapped(EventPool pool, uint64_t offset_bytes, uint64_t length_bytes) const {
    std::vector<std::pair<uint64_t, uint64_t>> out;
    const List& list = lists_[static_cast<uint8_t>(pool)];
    const uint64_t end = offset_bytes + length_bytes;
    auto at = list.upper_bound(offset_bytes);
    if (at != list.begin()) --at;
    for (; at != list.end() && at->first < end; ++at) {
        const uint64_t from = std::max(at->first, offset_bytes), to = std::min(at->second.end, end);
        if (from >= to) continue;
        if (!out.empty() && out.back().second == from) out.back().second = to;
        else out.emplace_back(from, to);
    }
    return out;
}

std::vector<Event> Areas::events() const {
    std::vector<Event> out;
    if (break_bytes_ != 0) {
        Event e;
        e.kind = EventKind::brk;
        e.pool = EventPool::heap;
        e.length_bytes = break_bytes_;
        out.push_back(e);
    }
    for (uint8_t pool = 0; pool < event_pools; ++pool) {
        const List& list = lists_[pool];
        const bool is_heap = pool == static_cast<uint8_t>(EventPool::heap);
        const uint64_t heap_end = (break_bytes_ + page_bytes - 1) / page_bytes * page_bytes;
        const auto add = [&](EventKind kind, uint64_t begin, uint64_t end) -> Event& {
            Event e;
            e.kind = kind;
            e.pool = static_cast<EventPool>(pool);
            e.offset_bytes = begin;
            e.length_bytes = end - begin;
            return out.emplace_back(e);
        };
        uint64_t at = 0;  // end of the area before
        for (auto next = list.begin(); next != list.end();) {
            const uint64_t begin = next->first;
            Area area = next->second;
            for (++next; next != list.end() && next->first == area.end && continues(begin, area, next->second); ++next)
                area.end = next->second.end;
            if (is_heap && begin > at && at < heap_end) add(EventKind::unmap, at, std::min(begin, heap_end));
            at = area.end;
            if (!area.by_brk) {
                Event& e = add(EventKind::map, begin, area.end);
                e.protection = area.protection;
                e.flags = area.flags;
                e.file = area.file;
                e.file_offset_bytes = area.file_offset_bytes;
            } else if (area.protection != (PROT_READ | PROT_WRITE)) {
                add(EventKind::protect, begin, area.end).protection = area.protection;
            }
            for (int advice = 0; advice < 64; ++advice)
                if (area.advice & bit(advice)) add(EventKind::advise, begin, area.end).flags = static_cast<uint32_t>(advice);
            const bool by_flag = !area.by_brk && (area.flags & MAP_LOCKED) != 0;
            if (area.is_locked && (!by_flag || area.lock_flags != 0)) add(EventKind::lock, begin, area.end).flags = area.lock_flags;
            if (!area.is_locked && by_flag) add(EventKind::unlock, begin, area.end);
        }
        if (is_heap && at < heap_end) add(EventKind::unmap, at, heap_end);
    }
    return out;
}

}  // namespace tessera::trace
