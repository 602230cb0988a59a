// kernel.cpp - faults. Background work, calls of the program and records have files of their own.
#include "driver/kernel.h"

#include <algorithm>

#include "driver/counters.h"
#include "driver/refusal.h"

namespace tessera::os {
namespace {

constexpr uint64_t table_pages = 512;
constexpr uint32_t around_reach = FAULT_AROUND_PAGES - 1;  // a window of fault-around has the page of the fault

bool is_large(const fault &found) { return found.order >= PHYS_THP_ORDER; }

Cause cause_of(const fault &found, bool from_pool) {
    switch (found.kind) {
        case FAULT_PAGE: return from_pool ? Cause::pool : Cause::page;
        case FAULT_ZERO: return Cause::zero;
        case FAULT_COPY: return found.major ? Cause::copy_read : Cause::copy;
        case FAULT_SWAP: return Cause::swap;
        case FAULT_SWAP_CACHE: return Cause::swap_cache;
        case FAULT_FILE: return found.major ? Cause::file_read : Cause::file;
        default: return Cause::reuse;
    }
}

}  // namespace

/// What is known of the page before a fault that may map more than this page.
struct Kernel::Before {
    const ::area *area = nullptr;  ///< null: nobody asked
    bool swapped = false;
    bool whole = false;          ///< all 512 entries of the table are swap entries of one page of 2MB
    uint32_t mapped = 0;         ///< a file's area: bit i: page - around_reach + i has an entry
};

Kernel::Kernel(const Scenario &scenario, Machine &machine, const Places &places, Writer &log)
    : scenario_(scenario),
      machine_(machine),
      process_(&machine.process),
      places_(places),
      rights_(places),
      log_(log),
      has_files_(machine.system.files.files > 0),
      has_swap_(scenario.swap_bytes > 0),
      has_pools_(scenario.huge_pages[HUGETLB_2MB] + scenario.huge_pages[HUGETLB_1GB] > 0) {
    constexpr uint64_t refresh_milliseconds = 1000, compaction_milliseconds = 500;  // vm.stat_interval, HPAGE_FRAG_CHECK_INTERVAL_MSEC
    scan_.start(scenario.instructions_in(scenario.scan_sleep_milliseconds));
    refresh_.start(scenario.instructions_in(refresh_milliseconds));
    compaction_.start(scenario.instructions_in(compaction_milliseconds));
    if (!scenario.compacts_proactively) compaction_ = {0, ~uint64_t{0}};
    next_wake_ = std::min({scan_.next, refresh_.next, compaction_.next});
    machine_.system.watcher = this;
    counters_before_ = counters_of(machine, 0);
}

Kernel::~Kernel() { machine_.system.watcher = nullptr; }

fault Kernel::attempt(uint64_t page, bool write) {
    fault found = fault_access(process_, page, write, 0, FAULT_FIRST);
    if (found.kind != FAULT_NEEDS || found.needs_order == 0) return found;
    const uint32_t tables = found.tables.count;  // both attempts made tables for this fault
    found = fault_access(process_, page, write, 0, FAULT_WITHOUT_HUGE);
    found.tables.count += tables;
    return found;
}

fault Kernel::resolve(uint64_t page, bool write) {
    fault found = attempt(page, write);
    if (found.kind == FAULT_BUS && grow_file(page)) found = attempt(page, write);
    if (found.kind <= FAULT_FILE || found.kind == FAULT_SWAP || found.kind == FAULT_SWAP_CACHE) return found;
    refuse(found, page, write);
}

void Kernel::refuse(const fault &found, uint64_t page, bool write) const {
    const std::string place = where(page);
    if (found.kind == FAULT_NEEDS) out_of_memory("a page at " + place);
    if (found.kind == FAULT_BUS)
        throw Refusal("scenario " + scenario_.name + ": a huge page at " + place, "the pool is empty: SIGBUS [os/hugetlb]",
                      "give the scenario more hugetlb.pages_2mb or hugetlb.pages_1gb", 1);
    if (found.kind == FAULT_BAD_ACCESS)
        throw Refusal(std::string(write ? "a store" : "a load") + " at " + place, "no area of the program allows it [os/no-area]",
                      "record the program from its start, with all calls: tessera trace record --events --roi whole", 1);
    throw Refusal("an access at " + place, "shared memory is not modelled here [os/not-modelled]",
                  "use a program whose pools are anonymous", 1);
}

void Kernel::out_of_memory(const std::string &asked) const {
    const swap &swap = machine_.system.swap;
    const std::string of_swap = swap.slots == 0
                                    ? "there is no swap"
                                    : std::to_string(swap.in_use) + " of " + std::to_string(swap.slots - 1) + " pages of swap are in use";
    throw Refusal("scenario " + scenario_.name + ": " + asked,
                  "out of memory: " + std::to_string(machine_.free_frames()) +
                      " frames of 4KB are free, nothing more can be reclaimed, and " + of_swap +
                      "; Linux would kill a process [os/out-of-memory]",
                  "give the scenario more memory_bytes or swap.bytes, or pin fewer frames", 1);
}

/// A file that was longer when it was recorded than when it was first mapped. False: the page is of no file.
bool Kernel::grow_file(uint64_t page) {
    const area *area = areas_at(&process_->areas, page);
    file *file = area->file != 0 ? file_named(&machine_.system.files, area->file) : nullptr;
    if (file == nullptr) return false;
    file->bytes = (area->offset + (page - area->start) + 1) * PHYS_FRAME_BYTES;
    ++counts_.grown_files;
    return true;
}

/// What the page's entry allows from now on without a look.
void Kernel::learn(uint64_t page) {
    unsigned level = 0;
    const pt_entry *slot = pt_find(&process_->pt, page, &level);
    if (slot == nullptr || !pt_present(*slot) || !(*slot & PT_YOUNG)) return;
    const unsigned rights = Rights::load | ((*slot & PT_WRITE) && (*slot & PT_DIRTY) ? Rights::store : 0);
    const uint64_t pages = pt_slot_pages(level);
    rights_.set(page & ~(pages - 1), pages, rights);
}

Kernel::Before Kernel::look(uint64_t page) const {
    Before before;
    unsigned level = 0;
    if (has_files_ || has_pools_) before.area = areas_at(&process_->areas, page);
    if (before.area != nullptr && before.area->file != 0)
        for (uint32_t i = 0; i <= 2 * around_reach; ++i) {
            if (page + i < around_reach) continue;
            const pt_entry *slot = pt_find(&process_->pt, page + i - around_reach, &level);
            if (slot != nullptr && *slot != 0) before.mapped |= 1u << i;
        }
    const pt_entry *slot = has_swap_ ? pt_find(&process_->pt, page, &level) : nullptr;
    if (slot == nullptr || !(*slot & PT_SWAP)) return before;
    before.swapped = true;
    const uint32_t frame = swap_cached(&machine_.system.swap, pt_value(*slot));
    if (frame == PHYS_NO_FRAME || frame_order(&machine_.memory.frames, frames_block_of(&machine_.memory.frames, frame)) == 0) return before;
    const pt_entry *first = slot - page % table_pages;
    before.whole = std::all_of(first, first + table_pages, [](pt_entry entry) { return (entry & PT_SWAP) != 0; });
    return before;
}

void Kernel::touch(At at, uint64_t page, bool write, uint64_t index) {
    now_ = {at.block, at.access + index};
    const Before before = has_files_ || has_swap_ || has_pools_ ? look(page) : Before{};
    const fault found = resolve(page, write);
    learn(page);
    if (found.kind != FAULT_NONE) record(changed_block_ == at.block ? now_ : at, found, before, page, write);
    work(in_call_ ? now_ : At{now_.block, now_.access + 1});
}

void Kernel::record(At at, const fault &found, const Before &before, uint64_t page, bool write) {
    ++counts_.faults;
    counts_.fallbacks += found.fallback;
    const bool large = is_large(found), from_pool = has_pools_ && before.area != nullptr && before.area->flags & AREA_HUGETLB;
    const bool new_tables = found.tables.count > (large && !from_pool ? 1u : 0u);
    const Cause cause = cause_of(found, from_pool);
    Record record{at.block, at.access};
    record.cause = static_cast<uint8_t>(cause);
    if (cause == Cause::reuse && !before.swapped) record.kind = Kind::upgrade;
    record.write = write;
    record.fallback = found.fallback;
    record.large = large;
    record.gigantic = found.order > PHYS_THP_ORDER;
    record.pages = uint64_t{1} << found.order;
    record.frame = found.frame == PHYS_NO_FRAME ? zero_frame : found.frame;
    if (cause == Cause::zero && large) record.frame = machine_.system.huge_zero;
    uint64_t first = page & ~(record.pages - 1);
    if (found.split) {
        const uint32_t part = found.kind == FAULT_COPY ? found.from : found.frame;
        log_own_split(at, {page & ~(table_pages - 1), part == PHYS_NO_FRAME ? zero_frame : part - page % table_pages});
    } else if (new_tables) {
        record.tables = path(page);
    }
    if (before.whole && before.swapped && cause != Cause::copy && cause != Cause::copy_read) {
        unsigned level = 0;
        const pt_entry *slot = pt_find(&process_->pt, page & ~(table_pages - 1), &level);
        if (slot != nullptr && pt_present(*slot) && pt_value(*slot) + page % table_pages == found.frame)
            first = page & ~(table_pages - 1), record.pages = table_pages, record.frame = pt_value(*slot);
    }
    counts_.major += record.is_major();
    put(at, record, first);
    if (found.around > 0) record_around(at, before, page);
}

/// Neighbours that fault-around mapped, in runs of consecutive frames.
void Kernel::record_around(At at, const Before &before, uint64_t page) {
    Record run{at.block, at.access};
    run.cause = static_cast<uint8_t>(Cause::around);
    run.pages = 0;
    uint64_t first = 0;
    for (uint32_t i = 0; i <= 2 * around_reach + 1; ++i) {
        const uint64_t neighbour = page + i - around_reach;
        unsigned level = 0;
        const bool asks = i <= 2 * around_reach && page + i >= around_reach && neighbour != page && !(before.mapped >> i & 1);
        const pt_entry *slot = asks ? pt_find(&process_->pt, neighbour, &level) : nullptr;
        const bool mapped = slot != nullptr && pt_present(*slot);
        if (mapped && run.pages > 0 && pt_value(*slot) == run.frame + run.pages) {
            ++run.pages;
        } else {
            if (run.pages > 0) put(at, run, first);
            run.pages = mapped;
            if (mapped) first = neighbour, run.frame = pt_value(*slot);
        }
        if (mapped) rights_.set(neighbour, 1, *slot & PT_YOUNG ? Rights::load : 0);
    }
}

void Kernel::access(At at, uint64_t address, bool is_store, uint64_t index) { touch(at, address >> 12, is_store, index); }

void Kernel::finish(At at) {
    for (size_t i = 0; i < process_->areas.count; ++i) {
        const area &one = process_->areas.item[i];
        Record record{at.block, at.access, Kind::area};
        record.pages = one.end - one.start;
        record.frame = one.flags;
        put(at, record, one.start);
    }
    const std::vector<uint64_t> values = counters_of(machine_, counts_.faults, counters_before_);
    for (size_t i = 0; i < values.size(); ++i) {
        Record record{at.block, at.access, Kind::count};
        record.page = i, record.frame = values[i];
        log_.add(record);
    }
}

}  // namespace tessera::os
