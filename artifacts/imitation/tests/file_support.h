// file_support.h - a page cache on a small machine, which notes what it tells and what it asks the disk for.
#pragma once

#include <gtest/gtest.h>

#include "support.h"

extern "C" {
#include "base/random.h"
#include "file/read.h"
}

namespace tests {

constexpr uint64_t kb4 = 4096;

struct Event {
    int kind;
    uint64_t index;
    uint32_t pages, more;
    bool operator==(const Event &) const = default;
};

inline void PrintTo(const Event &e, std::ostream *out) { *out << e.kind << "@" << e.index << "+" << e.pages << "/" << e.more; }

struct Cache {
    explicit Cache(uint64_t bytes = 256 * mib) : memory(Memory::pc(bytes)) {
        lru_create(&lru, &memory.p);
        file_cache_create(&cache, &memory.p, &lru);
        memory.p.events.context = this;
        memory.p.events.file = [](void *self, const file_event *event) {
            static_cast<Cache *>(self)->events.push_back({event->kind, event->index, event->pages, event->more});
        };
        cache.disk = [](void *self, uint32_t, uint64_t index, uint32_t pages) {
            auto *of = static_cast<Cache *>(self);
            for (uint64_t i = 0; i < pages; ++i) of->disk.push_back(index + i);
        };
        cache.disk_context = this;
    }
    Cache(const Cache &) = delete;
    ~Cache() {
        lru_drain_all(&lru);
        file_cache_destroy(&cache, 0);
        lru_destroy(&lru);
    }
    file *open(uint64_t pages, bool large = false) {
        if (file_open(&cache, ++last, pages * kb4, large) != nullptr) std::abort();
        return file_named(&cache, last);
    }
    uint64_t read(file *of, uint64_t page, uint64_t pages = 1) { return file_read(&cache, of, page * kb4, pages * kb4, 0).bytes; }
    std::vector<Event> of_kind(int kind) const {
        std::vector<Event> found;
        for (const Event &event : events)
            if (event.kind == kind) found.push_back(event);
        return found;
    }
    std::vector<Event> windows() const { return of_kind(FILE_READAHEAD); }
    std::vector<Event> requests() const { return of_kind(FILE_READ); }

    Memory memory;
    ::lru lru{};
    file_cache cache{};
    std::vector<Event> events;
    std::vector<uint64_t> disk;
    uint32_t last = 0;
};

}  // namespace tests
