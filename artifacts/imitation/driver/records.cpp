// records.cpp - from page tables to records of the log.
#include <algorithm>

#include "driver/kernel.h"
#include "driver/refusal.h"

namespace tessera::os {
namespace {

const char *place_word(uint8_t kind) {
    static const char *const words[] = {"brk", "mmap", "file"};
    return kind < std::size(words) ? words[kind] : "outside";
}

}  // namespace

std::string Kernel::where(uint64_t page) const {
    const Place *place = places_.find(page);
    if (place == nullptr) return "block " + std::to_string(now_.block) + ", page " + std::to_string(page);
    return "block " + std::to_string(now_.block) + ", pool " + place_word(place->kind) + ", page " +
           std::to_string(page - place->first_page);
}

void Kernel::put(At at, Record record, uint64_t page) {
    const Place *place = places_.find(page);
    if (place == nullptr)
        throw Refusal("page " + std::to_string(page), "it lies in no pool of the trace [os/pool]", "report this as a defect", 1);
    record.block = at.block, record.access = at.access;
    record.pool = place->kind;
    record.page = page - place->first_page;
    log_.add(record);
}

std::vector<uint32_t> Kernel::path(uint64_t page) const {
    std::vector<uint32_t> frames;
    const pt_table *table = process_->pt.root;
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
        const pt_entry *slot = pt_find(&process_->pt, border, &level);
        if (slot == nullptr || level != 1 || !pt_present(*slot)) continue;
        if (std::any_of(found.begin(), found.end(), [page](const Large &one) { return one.page == page; })) continue;
        found.push_back({page, *slot & PT_ZERO ? zero_frame : pt_value(*slot)});
    }
    return found;
}

/// Those that are tables now.
void Kernel::log_splits(At at, const std::vector<Large> &large) {
    for (const Large &mapping : large) {
        unsigned missing = 0;
        const pt_table *table = pt_find_table(&process_->pt, mapping.page, 1, &missing);
        if (table != nullptr && pt_is_table(table->slot[pt_index(mapping.page, 1)])) log_own_split(at, mapping);
    }
}

void Kernel::log_split(At at, const Large &mapping) {
    Record record{at.block, at.access, Kind::split};
    record.pages = 512, record.frame = mapping.frame;
    record.tables = path(mapping.page);
    put(at, record, mapping.page);
}

/// A split by a call or a fault, which can need memory behind it: pages that reclaim or compaction took since are told again.
void Kernel::log_own_split(At at, const Large &mapping) {
    log_split(at, mapping);
    if (mapping.frame == zero_frame || changed_block_ != now_.block) return;
    uint64_t gone = 0;  // pages before this one
    for (uint64_t i = 0; i < 512; ++i) {
        unsigned level = 0;
        const pt_entry *slot = pt_find(&process_->pt, mapping.page + i, &level);
        const bool present = slot != nullptr && pt_present(*slot);
        if (!present) ++gone;
        if (gone > 0 && (present || i == 511)) log_unmap(at, mapping.page + i + !present - gone, gone, Loss::reclaimed), gone = 0;
        if (present && pt_value(*slot) != mapping.frame + i) migrated(mapping.page + i, *slot & PT_ZERO ? zero_frame : pt_value(*slot));
    }
}

void Kernel::log_unmap(At at, uint64_t page, uint64_t pages, Loss why) {
    if (pages == 0) return;
    rights_.clear(page, pages);
    Record record{at.block, at.access, Kind::unmap};
    record.cause = static_cast<uint8_t>(why);
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
        const pt_entry *slot = pt_find(&process_->pt, page, &level);
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
            const pt_entry *next = pt_find(&process_->pt, page, &level);
            if (next == nullptr || !pt_present(*next) || *next & PT_ZERO || pt_value(*next) != record.frame + record.pages) break;
            ++record.pages, ++page;
        }
        put(at, record, first);
    }
    return any;
}

}  // namespace tessera::os
