// watch.h - what reclaim and compaction do to the pages of one process, told as it happens.
//
// Reclaim and compaction reach page tables by way of the owners of pages (lru/lru.h). This stands between: each function of an owner runs
// as before, and the watcher hears which pages of the process it changed. Mappings of other processes are not told.
// Order: a split comes before the loss of its pages; each call of an owner is told when it is over.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/imitation.h"

namespace tessera::os {

/// Pages are virtual page numbers.
class Watcher {
public:
    virtual ~Watcher() = default;
    /// Reclaim cleared the young bits: the next access has to set them.
    virtual void aged(uint64_t page, uint64_t pages) = 0;
    /// A 2MB mapping of the block at `frame` became 512 entries.
    virtual void split(uint64_t page, uint64_t frame) = 0;
    /// Nothing is mapped there any more.
    virtual void reclaimed(uint64_t page, uint64_t pages) = 0;
    /// The page's frame is another one.
    virtual void migrated(uint64_t page, uint64_t frame) = 0;
};

/// The imitation's system, with the owners of pages under watch.
class WatchedSystem : public vm_system {
public:
    /// After vm_create. Nothing is told until `watcher` is set; `process` is whose pages.
    void start_watch();
    ::process *process = nullptr;
    Watcher *watcher = nullptr;

private:
    struct Mapping {
        uint64_t page, pages, frame;
    };
    template <bool file>
    static uint32_t referenced(void *context, uint32_t frame, bool *executable);
    template <bool file>
    static bool unmap(void *context, uint32_t frame, uint32_t cpu);
    template <bool file>
    static bool migrate(void *context, uint32_t from, uint32_t to, uint32_t cpu);
    static bool prepare(void *context, uint32_t frame, uint32_t list, uint32_t cpu);

    template <bool file>
    void hook(lru_owner &owner);
    std::vector<Mapping> mappings_of(uint32_t frame) const;
    bool is_split(const Mapping &mapping) const;
    void tell_splits(const std::vector<Mapping> &mappings);

    lru_owner own_[2]{};  ///< anonymous, file: the owners without a watch
};

}  // namespace tessera::os
