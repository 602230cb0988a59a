#include "driver/watch.h"

namespace tessera::os {
namespace {

WatchedSystem &system_of(void *context) { return *static_cast<WatchedSystem *>(static_cast<vm_system *>(context)); }

}  // namespace

void WatchedSystem::start_watch() {
    own_[0] = anon, own_[1] = *file_owner;
    hook<false>(anon);
    hook<true>(*file_owner);
    anon.prepare = prepare;
}

template <bool file>
void WatchedSystem::hook(lru_owner &owner) {
    owner.referenced = referenced<file>;
    owner.unmap = unmap<file>;
    owner.migrate = migrate<file>;
}

/// The process's mappings of a page's frames: runs of one frame, or of 512 of a 2MB mapping.
std::vector<WatchedSystem::Mapping> WatchedSystem::mappings_of(uint32_t frame) const {
    std::vector<Mapping> found;
    const uint32_t frames = lru_pages(&lru, frame);
    for (uint32_t i = 0; i < frames; ++i) {
        rmap_place place;
        for (rmap_walk walk = rmap_start(&lru.rmap, frame + i); rmap_next(&walk, &place);) {
            if (rmap_process(place) != process->number) continue;
            unsigned level = 0;
            const uint64_t page = rmap_page(place);
            pt_find(&process->pt, page, &level);
            found.push_back({page, pt_slot_pages(level), frame + i});
        }
    }
    return found;
}

bool WatchedSystem::is_split(const Mapping &mapping) const {
    unsigned missing = 0;
    const pt_table *table = mapping.pages > 1 ? pt_find_table(&process->pt, mapping.page, 1, &missing) : nullptr;
    return table != nullptr && pt_is_table(table->slot[pt_index(mapping.page, 1)]);
}

void WatchedSystem::tell_splits(const std::vector<Mapping> &mappings) {
    for (const Mapping &mapping : mappings)
        if (is_split(mapping)) watcher->split(mapping.page, mapping.frame);
}

template <bool file>
uint32_t WatchedSystem::referenced(void *context, uint32_t frame, bool *executable) {
    WatchedSystem &system = system_of(context);
    const uint32_t young = system.own_[file].referenced(context, frame, executable);
    if (young > 0 && system.watcher)
        for (const Mapping &mapping : system.mappings_of(frame)) system.watcher->aged(mapping.page, mapping.pages);
    return young;
}

/// A page of 2MB may be split for want of swap.
bool WatchedSystem::prepare(void *context, uint32_t frame, uint32_t list, uint32_t cpu) {
    WatchedSystem &system = system_of(context);
    if (!system.watcher || lru_pages(&system.lru, frame) == 1) return system.own_[0].prepare(context, frame, list, cpu);
    const std::vector<Mapping> mappings = system.mappings_of(frame);
    const bool prepared = system.own_[0].prepare(context, frame, list, cpu);
    system.tell_splits(mappings);
    return prepared;
}

template <bool file>
bool WatchedSystem::unmap(void *context, uint32_t frame, uint32_t cpu) {
    WatchedSystem &system = system_of(context);
    if (!system.watcher) return system.own_[file].unmap(context, frame, cpu);
    const std::vector<Mapping> mappings = system.mappings_of(frame);
    const bool all = system.own_[file].unmap(context, frame, cpu);
    system.tell_splits(mappings);
    for (const Mapping &mapping : mappings) {
        uint64_t first = 0, count = 0;  // of a run that is gone
        for (uint64_t i = 0; i < mapping.pages; ++i) {
            unsigned level = 0;
            const pt_entry *slot = pt_find(&system.process->pt, mapping.page + i, &level);
            const bool gone = slot == nullptr || !pt_present(*slot);
            if (gone && count++ == 0) first = mapping.page + i;
            if (gone && i + 1 < mapping.pages) continue;
            if (count > 0) system.watcher->reclaimed(first, count);
            count = 0;
        }
    }
    return all;
}

template <bool file>
bool WatchedSystem::migrate(void *context, uint32_t from, uint32_t to, uint32_t cpu) {
    WatchedSystem &system = system_of(context);
    if (!system.watcher) return system.own_[file].migrate(context, from, to, cpu);
    const std::vector<Mapping> mappings = system.mappings_of(from);
    if (!system.own_[file].migrate(context, from, to, cpu)) return false;
    for (const Mapping &mapping : mappings) system.watcher->migrated(mapping.page, to + (mapping.frame - from));
    return true;
}

}  // namespace tessera::os
