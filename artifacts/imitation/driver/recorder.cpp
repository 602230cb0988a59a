#include "driver/recorder.h"

#include <algorithm>

#include "driver/counters.h"
#include "driver/refusal.h"

namespace tessera::os {
namespace {

constexpr uint64_t table_pages = PT_SLOTS;

const char *place_word(uint8_t kind) {
    static const char *const words[] = {"brk", "mmap", "file"};
    return kind < std::size(words) ? words[kind] : "outside";
}

Cause cause_of(const fault &found) {
    switch (found.kind) {
        case FAULT_PAGE: return found.from_pool ? Cause::pool : Cause::page;
        case FAULT_ZERO: return Cause::zero;
        case FAULT_COPY: return found.major ? Cause::copy_read : Cause::copy;
        case FAULT_SWAP: return Cause::swap;
        case FAULT_SWAP_CACHE: return Cause::swap_cache;
        case FAULT_FILE: return found.major ? Cause::file_read : Cause::file;
        default: return Cause::reuse;
    }
}

}  // namespace

Recorder::Recorder(Machine &machine, const Places &places, Writer &log)
    : machine_(machine), process_(machine.process), places_(places), log_(log), rights_(places), counters_before_(counters_of(machine, 0)) {
    run_.pages = 0;
    events sink{};
    sink.context = this;
    sink.entry = [](void *self, const pt_change *change) {
        if (change->pt == &static_cast<Recorder *>(self)->process_.pt) static_cast<Recorder *>(self)->entry(*change);
    };
    sink.area = [](void *self, const area_change *change) {
        if (change->areas == &static_cast<Recorder *>(self)->process_.areas) static_cast<Recorder *>(self)->area(*change);
    };
    machine.memory.events = sink;
}

Recorder::~Recorder() { machine_.memory.events = {}; }

std::string Recorder::where(uint64_t page) const {
    const Place *place = places_.find(page);
    if (place == nullptr) return "block " + std::to_string(now_.block) + ", page " + std::to_string(page);
    return "block " + std::to_string(now_.block) + ", pool " + place_word(place->kind) + ", page " +
           std::to_string(page - place->first_page);
}

void Recorder::put(At at, Record record, uint64_t page) {
    flush();
    split_ = none;
    const Place *place = places_.find(page);
    if (place == nullptr)
        throw Refusal("page " + std::to_string(page), "it lies in no pool of the trace [os/pool]", "report this as a defect", 1);
    record.block = at.block, record.access = at.access;
    record.pool = place->kind;
    record.page = page - place->first_page;
    log_.add(record);
}

void Recorder::flush() {
    if (run_.pages == 0) return;
    Record record = run_;
    run_.pages = 0;
    put({record.block, record.access}, record, run_page_);
}

pt_entry Recorder::entry_at(uint64_t page, unsigned &level) const {
    const pt_entry *slot = pt_find(&process_.pt, page, &level);
    return slot != nullptr ? *slot : 0;
}

std::vector<uint32_t> Recorder::path(uint64_t page) const {
    std::vector<uint32_t> frames;
    const pt_table *table = process_.pt.root;
    for (unsigned level = PT_TOP;; --level) {
        frames.push_back(table->frame);
        const pt_entry entry = table->slot[pt_index(page, level)];
        if (level == 0 || !pt_is_table(entry)) return frames;
        table = pt_below(entry);
    }
}

void Recorder::entry(const pt_change &change) {
    if (pt_is_table(change.entry)) {
        if (pt_present(change.old)) split(change);
        return;
    }
    if (pt_is_table(change.old) && change.cause != PT_BY_COLLAPSE) return;
    const uint64_t pages = pt_slot_pages(change.level);
    if (!(change.entry & PT_YOUNG)) rights_.clear(change.page, pages);
    switch (change.cause) {
        case PT_BY_FAULT:
            rights_.learn(change.page, pages, change.entry);
            if (change.old & PT_SWAP && fault_.swapped++ == 0) fault_.first = change.page, fault_.first_frame = pt_value(change.entry);
            if (fault_.page - change.page < pages) fault_.old = change.old;
            break;
        case PT_BY_AROUND:
            rights_.learn(change.page, pages, change.entry);
            fault_.around.push_back(change.page);
            break;
        case PT_BY_RECLAIM: reclaimed(change); break;
        case PT_BY_POLICY: placed(change); break;
        case PT_BY_MIGRATION: {
            Record record;
            changed();
            record.cause = static_cast<uint8_t>(Cause::migrated);
            record.frame = pt_value(change.entry);
            put(now_, record, change.page);
            break;
        }
        case PT_BY_COLLAPSE: {
            Record record{.kind = Kind::collapse};
            record.large = true, record.pages = pages, record.frame = pt_value(change.entry);
            ++counts_.collapses;
            put(now_, record, change.page);
            break;
        }
        default: break;
    }
}

void Recorder::split(const pt_change &change) {
    const uint64_t pages = pt_slot_pages(change.level);
    const bool by_reclaim = change.cause == PT_BY_RECLAIM;
    if (by_reclaim) changed();
    if (change.page - moving_ < moving_pages_ && change.page + pages <= moving_ + moving_pages_) return;  // told at the end of the move
    Record record{.kind = Kind::split};
    record.pages = pages, record.frame = change.old & PT_ZERO ? zero_frame : pt_value(change.old);
    record.tables = path(change.page);
    put(by_reclaim ? now_ : place(), record, change.page);
    if (by_reclaim) split_ = change.page;
}

/// Pages of a 2MB mapping that go one after the other, with their large page, are one record.
void Recorder::reclaimed(const pt_change &change) {
    const frames &frames = machine_.memory.frames;
    const bool of_large = change.page - split_ < table_pages && frame_order(&frames, frames_block_of(&frames, pt_value(change.old))) > 0;
    changed();
    ++counts_.reclaimed_pages;
    if (of_large && run_.pages > 0 && run_.kind == Kind::unmap && change.page == run_page_ + run_.pages) {
        ++run_.pages;
        return;
    }
    if (!of_large) return lose(now_, change.page, 1, Loss::reclaimed);
    const uint64_t of = split_;
    flush();
    split_ = of;
    run_ = {now_.block, now_.access, Kind::unmap, static_cast<uint8_t>(Loss::reclaimed)};
    run_page_ = change.page;
}

/// Pages of one table with consecutive frames are one record.
void Recorder::placed(const pt_change &change) {
    const uint64_t frame = pt_value(change.entry);
    const bool follows =
        run_.pages > 0 && run_.kind == Kind::map && change.page == run_page_ + run_.pages && frame == run_.frame + run_.pages;
    if (follows && change.page % table_pages != 0) {
        ++run_.pages;
        return;
    }
    flush();
    run_ = {now_.block, now_.access, Kind::map, static_cast<uint8_t>(Cause::policy)};
    run_page_ = change.page, run_.frame = frame, run_.pages = pt_slot_pages(change.level), run_.large = change.level == 1;
    run_.tables = path(change.page);
}

void Recorder::lose(At at, uint64_t page, uint64_t pages, Loss why) {
    if (pages == 0) return;
    rights_.clear(page, pages);
    Record record{.kind = Kind::unmap, .cause = static_cast<uint8_t>(why), .pages = pages};
    put(at, record, page);
}

/// What the page's entry allows from now on without a look.
void Recorder::learn(uint64_t page) {
    unsigned level = 0;
    const pt_entry entry = entry_at(page, level);
    const uint64_t pages = pt_slot_pages(level);
    if (entry != 0) rights_.learn(page & ~(pages - 1), pages, entry);
}

void Recorder::begin_fault(At block, At now, uint64_t page) {
    block_ = block, now_ = now;
    fault_.page = page, fault_.swapped = 0, fault_.old = 0;
    fault_.around.clear();
}

void Recorder::end_fault(const fault &found, uint64_t page, bool write) {
    if (found.kind == FAULT_NONE) return learn(page);
    const At at = place();
    const Cause cause = cause_of(found);
    const bool large = found.order >= PHYS_THP_ORDER, copies = found.kind == FAULT_COPY;
    const bool new_tables = found.tables.count > (large && !found.from_pool ? 1u : 0u);
    Record record{.cause = static_cast<uint8_t>(cause), .large = large, .fallback = found.fallback, .write = write};
    if (cause == Cause::reuse && fault_.swapped == 0) record.kind = Kind::upgrade;
    record.gigantic = found.order > PHYS_THP_ORDER;
    record.pages = uint64_t{1} << found.order;
    record.frame = found.frame == PHYS_NO_FRAME ? zero_frame : found.frame;
    if (cause == Cause::zero && large) record.frame = machine_.system.huge_zero;
    uint64_t first = page & ~(record.pages - 1);
    if (new_tables && !found.split) record.tables = path(page);
    if (fault_.swapped > 1 && !copies) first = fault_.first, record.pages = fault_.swapped, record.frame = fault_.first_frame;
    ++counts_.faults;
    counts_.fallbacks += found.fallback;
    counts_.major += record.is_major();
    put(at, record, first);
    if (copies) put_source(at, found, page);
    put_around(at);
}

/// What a copy was made of, if it was not zeros.
void Recorder::put_source(At at, const fault &found, uint64_t page) {
    const bool mapped = pt_present(fault_.old);
    if (mapped && fault_.old & PT_ZERO) return;
    Record record{.kind = Kind::source, .cause = static_cast<uint8_t>(mapped ? Source::mapped : Source::cache)};
    record.frame = mapped ? pt_value(fault_.old) : found.from;
    put(at, record, page);
}

/// Neighbours that fault-around mapped and nobody took since, in runs of consecutive frames.
void Recorder::put_around(At at) {
    std::sort(fault_.around.begin(), fault_.around.end());
    Record run{.cause = static_cast<uint8_t>(Cause::around), .pages = 0};
    uint64_t end = 0;
    for (const uint64_t page : fault_.around) {
        unsigned level = 0;
        const pt_entry entry = entry_at(page, level);
        if (!pt_present(entry)) continue;
        if (page != end || pt_value(entry) != run.frame + run.pages) {
            if (run.pages > 0) put(at, run, end - run.pages);
            run.frame = pt_value(entry), run.pages = 0;
        }
        ++run.pages, end = page + 1;
    }
    if (run.pages > 0) put(at, run, end - run.pages);
}

void Recorder::begin_call(trace::EventKind kind, uint64_t page, uint64_t pages) {
    put(now_, {.kind = Kind::call_begin, .cause = static_cast<uint8_t>(kind), .pages = pages, .frame = process_.areas.count}, page);
}

void Recorder::end_call(trace::EventKind kind, uint64_t page, uint64_t pages) {
    put(now_, {.kind = Kind::call, .cause = static_cast<uint8_t>(kind), .pages = pages, .frame = process_.areas.count}, page);
}

/// Runs of mapped pages of the range. Tables move, too, even those without a mapped page: later faults there make no new ones, so a record of the
/// range without pages tells their frames.
void Recorder::end_move(uint64_t page, uint64_t pages) {
    uint64_t told_gigabyte = none;  // its table of 2MB parts
    uint64_t stop = page;
    moving_pages_ = 0;
    for (const uint64_t end = page + pages; page < end; page = stop) {
        stop = std::min(end, (page | (table_pages - 1)) + 1);
        const uint64_t gigabyte = page >> 18;
        if (!put_mapped(page, stop)) {
            Record record{.kind = Kind::unmap, .pages = stop - page};
            record.tables = path(page);
            if (record.tables.size() < (told_gigabyte == gigabyte ? 4u : 3u)) continue;
            put(now_, record, page);
        }
        told_gigabyte = gigabyte;
    }
}

/// The mapped pages of a part of 2MB. False: there is none.
bool Recorder::put_mapped(uint64_t page, uint64_t stop) {
    bool any = false;
    while (page < stop) {
        unsigned level = 0;
        const pt_entry entry = entry_at(page, level);
        if (!pt_present(entry)) {
            ++page;
            continue;
        }
        any = true;
        Record record{.large = level == 1, .pages = pt_slot_pages(level)};
        record.frame = entry & PT_ZERO && level == 0 ? zero_frame : pt_value(entry);
        record.tables = path(page);
        const uint64_t first = page;
        page += record.pages;
        while (level == 0 && record.frame != zero_frame && page < stop) {
            const pt_entry next = entry_at(page, level);
            if (!pt_present(next) || next & PT_ZERO || pt_value(next) != record.frame + record.pages) break;
            ++record.pages, ++page;
        }
        put(now_, record, first);
    }
    return any;
}

void Recorder::area(const area_change &change) {
    Record record{.kind = change.area != nullptr ? Kind::area_live : Kind::area_gone, .pages = change.end - change.start};
    if (change.area != nullptr) record.frame = change.area->flags;
    put(now_, record, change.start);
}

void Recorder::put_areas(At at) {
    for (size_t i = 0; i < process_.areas.count; ++i) {
        const ::area &one = process_.areas.item[i];
        put(at, {.kind = Kind::area, .pages = one.end - one.start, .frame = one.flags}, one.start);
    }
}

void Recorder::finish(At at) {
    put_areas(at);
    flush();
    const std::vector<uint64_t> values = counters_of(machine_, counts_.faults, counters_before_);
    for (size_t i = 0; i < values.size(); ++i) {
        Record record{at.block, at.access, Kind::count};
        record.page = i, record.frame = values[i];
        log_.add(record);
    }
}

}  // namespace tessera::os
