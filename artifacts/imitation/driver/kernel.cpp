// kernel.cpp - faults, khugepaged and records of the log. Calls of the program are in calls.cpp.
#include "driver/kernel.h"

#include <algorithm>

#include "driver/refusal.h"

namespace tessera::os {
namespace {

constexpr uint64_t refresh_milliseconds = 1000;  // vm.stat_interval

std::string where(At at, const char* pool, uint64_t page) {
    return "block " + std::to_string(at.block) + ", pool " + pool + ", page " + std::to_string(page);
}

const char* pool_word(uint8_t kind) { return kind == 0 ? "brk" : "mmap"; }

}  // namespace

Kernel::Kernel(const Scenario& scenario, Machine& machine, const std::vector<trace::Pool>& pools, Writer& log)
    : scenario_(scenario), machine_(machine), process_(&machine.process), rights_(pools), log_(log),
      next_scan_(std::max<uint64_t>(1, scenario.instructions_in(scenario.scan_sleep_milliseconds))),
      next_refresh_(std::max<uint64_t>(1, scenario.instructions_in(refresh_milliseconds))), next_wake_(std::min(next_scan_, next_refresh_)) {
    for (const trace::Pool& pool : pools)
        pools_.push_back({pool.base >> 12, (pool.size_bytes + 4095) >> 12, static_cast<uint8_t>(pool.kind)});
}

const Kernel::Place& Kernel::pool_of(uint64_t page) const {
    for (const Place& pool : pools_)
        if (page - pool.first_page < pool.pages) return pool;
    throw Refusal("page " + std::to_string(page), "it lies in no pool of the trace [os/pool]", "report this as a defect", 1);
}

fault Kernel::resolve(At at, uint64_t page, bool write) {
    fault found = fault_access(process_, page, write, 0, FAULT_FIRST);
    if (found.kind == FAULT_NEEDS && found.needs_order > 0) {
        const uint32_t tables = found.tables.count;  // both attempts made tables for this fault
        found = fault_access(process_, page, write, 0, FAULT_WITHOUT_HUGE);
        found.tables.count += tables;
    }
    const bool anonymous = found.kind <= FAULT_REUSE;
    if (anonymous) return found;
    const Place& pool = pool_of(page);
    const std::string place = where(at, pool_word(pool.kind), page - pool.first_page);
    if (found.kind == FAULT_NEEDS)
        throw Refusal("scenario " + scenario_.name + ": a page at " + place,
                      "out of memory: " + std::to_string(machine_.free_frames()) + " frames of 4KB are free, and reclaim and swap are not modelled [os/out-of-memory]",
                      "give the scenario more memory_bytes, or pin fewer frames", 1);
    if (found.kind == FAULT_BAD_ACCESS)
        throw Refusal(std::string(write ? "a store" : "a load") + " at " + place, "no area of the program allows it [os/no-area]",
                      "record the program from its start, with all calls: tessera trace record --events --roi whole", 1);
    throw Refusal("an access at " + place, "pages of files and shared memory are not modelled [os/not-modelled]", "use a program whose pools are anonymous", 1);
}

/// What the page's entry allows from now on without a look.
void Kernel::learn(uint64_t page) {
    unsigned level = 0;
    const pt_entry* slot = pt_find(&process_->pt, page, &level);
    if (slot == nullptr || !pt_present(*slot) || !(*slot & PT_YOUNG)) return;
    const unsigned rights = Rights::load | ((*slot & PT_WRITE) && (*slot & PT_DIRTY) ? Rights::store : 0);
    const uint64_t pages = pt_slot_pages(level);
    rights_.set(page & ~(pages - 1), pages, rights);
}

void Kernel::touch(At at, uint64_t page, bool write) {
    const fault found = resolve(at, page, write);
    learn(page);
    if (found.kind == FAULT_NONE) return;
    ++counts_.faults;
    counts_.fallbacks += found.fallback;
    const bool large = found.order > 0, new_tables = found.tables.count > (large ? 1u : 0u);
    Record record{at.block, at.access};
    record.write = write;
    record.fallback = found.fallback;
    record.large = large;
    record.frame = found.frame == PHYS_NO_FRAME ? zero_frame : found.frame;
    record.pages = large ? 512 : 1;
    const uint64_t first = large ? page & ~uint64_t{511} : page;
    if (found.split) {
        Record split{at.block, at.access, Kind::split};
        split.pages = 512, split.frame = zero_frame;
        split.tables = path(page);
        put(at, split, page & ~uint64_t{511});
    }
    if (new_tables && !found.split) record.tables = path(page);
    switch (found.kind) {
        case FAULT_PAGE: record.cause = static_cast<uint8_t>(Cause::page); break;
        case FAULT_COPY: record.cause = static_cast<uint8_t>(Cause::copy); break;
        case FAULT_REUSE:
            record.kind = Kind::upgrade;
            record.cause = static_cast<uint8_t>(Cause::reuse);
            break;
        default:
            record.cause = static_cast<uint8_t>(Cause::zero);
            if (large) record.frame = machine_.system.huge_zero;
    }
    put(at, record, first);
    if (machine_.memory.zones[PHYS_NORMAL].boost | machine_.memory.zones[PHYS_DMA32].boost | machine_.memory.zones[PHYS_DMA].boost)
        watermark_kswapd_pass(&machine_.memory, PHYS_NORMAL, 0);
}

void Kernel::access(At at, uint64_t address, bool is_store) { touch(at, address >> 12, is_store); }

void Kernel::wake(At at, uint64_t instructions) {
    for (; next_wake_ <= instructions; next_wake_ = std::min(next_scan_, next_refresh_)) {
        if (next_refresh_ <= next_scan_) {
            percpu_refresh(&machine_.memory, 0);
            next_refresh_ += std::max<uint64_t>(1, scenario_.instructions_in(refresh_milliseconds));
        } else {
            scan(at);
            next_scan_ += std::max<uint64_t>(1, scenario_.instructions_in(scenario_.scan_sleep_milliseconds));
        }
    }
}

void Kernel::scan(At at) {
    struct Context {
        Kernel* kernel;
        At at;
    } context{this, at};
    khugepaged_wake(
        &machine_.system, 0,
        [](void* of, const ::process* process, uint64_t page, collapse_result result) {
            if (result != COLLAPSE_DONE) return;
            auto& [kernel, place] = *static_cast<Context*>(of);
            unsigned level = 0;
            Record record{place.block, place.access, Kind::collapse};
            record.large = true, record.pages = 512;
            record.frame = pt_value(*pt_find(&process->pt, page, &level));
            ++kernel->counts_.collapses;
            kernel->put(place, record, page);
        },
        &context);
}

void Kernel::put(At at, Record record, uint64_t page) {
    const Place& pool = pool_of(page);
    record.block = at.block, record.access = at.access;
    record.pool = pool.kind;
    record.page = page - pool.first_page;
    log_.add(record);
}

std::vector<uint32_t> Kernel::path(uint64_t page) const {
    std::vector<uint32_t> frames;
    const pt_table* table = process_->pt.root;
    for (unsigned level = PT_TOP;; --level) {
        frames.push_back(table->frame);
        const pt_entry entry = table->slot[pt_index(page, level)];
        if (level == 0 || !pt_is_table(entry)) return frames;
        table = pt_below(entry);
    }
}

std::vector<Kernel::Large> Kernel::large_at(std::initializer_list<uint64_t> borders) const {
    std::vector<Large> found;
    for (const uint64_t border : borders) {
        unsigned level = 0;
        const uint64_t page = border & ~uint64_t{511};
        if (border == page || border >= PT_PAGES) continue;
        const pt_entry* slot = pt_find(&process_->pt, border, &level);
        if (slot == nullptr || level != 1 || !pt_present(*slot)) continue;
        if (std::any_of(found.begin(), found.end(), [page](const Large& one) { return one.page == page; })) continue;
        found.push_back({page, *slot & PT_ZERO ? zero_frame : pt_value(*slot)});
    }
    return found;
}

/// Those that are tables now.
void Kernel::log_splits(At at, const std::vector<Large>& large) {
    for (const Large& mapping : large) {
        unsigned missing = 0;
        const pt_table* table = pt_find_table(&process_->pt, mapping.page, 1, &missing);
        if (table == nullptr || !pt_is_table(table->slot[pt_index(mapping.page, 1)])) continue;
        Record record{at.block, at.access, Kind::split};
        record.pages = 512, record.frame = mapping.frame;
        record.tables = path(mapping.page);
        put(at, record, mapping.page);
    }
}

void Kernel::log_unmap(At at, uint64_t page, uint64_t pages) {
    if (pages == 0) return;
    rights_.clear(page, pages);
    Record record{at.block, at.access, Kind::unmap};
    record.pages = pages;
    put(at, record, page);
}

/// Runs of mapped pages of a range, for a move. Tables move, too, even those without a mapped page: later faults there make no
/// new ones, so a record of the range without pages tells their frames.
void Kernel::log_pages(At at, uint64_t page, uint64_t pages) {
    uint64_t told_gigabyte = ~uint64_t{0};  // its table of 2MB parts
    uint64_t stop = page;
    for (const uint64_t end = page + pages; page < end; page = stop) {
        stop = std::min(end, (page | 511) + 1);
        const uint64_t gigabyte = page >> 18;
        if (!log_mapped(at, page, stop)) {
            Record record{at.block, at.access, Kind::unmap};
            record.pages = stop - page;
            record.tables = path(page);
            if (record.tables.size() < (told_gigabyte == gigabyte ? 4u : 3u)) continue;
            put(at, record, page);
        }
        told_gigabyte = gigabyte;
    }
}

/// The mapped pages of a part of 2MB. False: there is none.
bool Kernel::log_mapped(At at, uint64_t page, uint64_t stop) {
    bool any = false;
    while (page < stop) {
        unsigned level = 0;
        const pt_entry* slot = pt_find(&process_->pt, page, &level);
        if (slot == nullptr || !pt_present(*slot)) {
            ++page;
            continue;
        }
        any = true;
        Record record{at.block, at.access};
        record.large = level == 1;
        record.frame = *slot & PT_ZERO && level == 0 ? zero_frame : pt_value(*slot);
        record.pages = level == 1 ? 512 : 1;
        record.tables = path(page);
        const uint64_t first = page;
        page += record.pages;
        while (level == 0 && record.frame != zero_frame && page < stop) {
            const pt_entry* next = pt_find(&process_->pt, page, &level);
            if (next == nullptr || !pt_present(*next) || *next & PT_ZERO || pt_value(*next) != record.frame + record.pages) break;
            ++record.pages, ++page;
        }
        put(at, record, first);
    }
    return any;
}

void Kernel::finish(At at) {
    for (size_t i = 0; i < process_->areas.count; ++i) {
        const area& one = process_->areas.item[i];
        Record record{at.block, at.access, Kind::area};
        record.pages = one.end - one.start;
        record.frame = one.flags;
        put(at, record, one.start);
    }
}

}  // namespace tessera::os
