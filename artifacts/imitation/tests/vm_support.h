// vm_support.h - a machine with one process for the tests, and short names.
#pragma once

#include "support.h"

extern "C" {
#include "pt/free.h"
#include "pt/huge.h"
#include "vm/check.h"
#include "vm/fault.h"
#include "vm/gather.h"
#include "vm/merge.h"
#include "vm/move.h"
#include "vm/place.h"
#include "vm/unmap.h"
}

namespace tests {

constexpr uint32_t rw = AREA_READ | AREA_WRITE;

/// A process on a PC. The root table has order 0, so that every table is one frame.
class Process {
public:
    explicit Process(thp settings = thp_default(), uint64_t bytes = 256 * mib) : memory(Memory::pc(bytes)) {
        vm_create(&system, &memory.p, &settings);
        if (process_create(&process, &system, 0, 0) != PHYS_GOT_FRAMES) std::abort();
    }
    Process(const Process &) = delete;
    ~Process() {
        end();
        vm_destroy(&system);
    }
    void end() {
        if (!ended) process_exit(&process, 0);
        ended = true;
    }
    const char *map(uint64_t page, uint64_t pages, uint32_t flags = rw, uint32_t file = 0, uint64_t offset = 0) {
        return process_map(&process, page, pages, flags, file, offset, 0);
    }
    fault touch(uint64_t page, bool write = true, fault_try attempt = FAULT_FIRST) {
        return fault_access(&process, page, write, 0, attempt);
    }
    pt_entry entry(uint64_t page, unsigned *level = nullptr) const {
        unsigned found = 0;
        const pt_entry *slot = pt_find(&process.pt, page, &found);
        if (level) *level = found;
        return slot ? *slot : 0;
    }
    const char *broken() {
        ::process *only = &process;
        if (const char *rule = phys_check(&memory.p)) return rule;
        return vm_check(&system, &only, ended ? 0 : 1);
    }
    /// "start-end" of each area, with a space between.
    std::string areas() const {
        std::string text;
        for (size_t i = 0; i < process.areas.count; ++i) {
            const area &one = process.areas.item[i];
            text += (i ? " " : "") + std::to_string(one.start) + "-" + std::to_string(one.end);
        }
        return text;
    }

    Memory memory;
    vm_system system{};
    ::process process{};
    bool ended = false;
};

inline thp settings_of(thp_enabled enabled, thp_defrag defrag = THP_DEFRAG_MADVISE) {
    thp settings = thp_default();
    settings.enabled = enabled;
    settings.defrag = defrag;
    return settings;
}

inline int64_t free_everywhere(const phys &p) {
    int64_t frames = 0;
    for (int i = 0; i < PHYS_ZONES; ++i) frames += phys_zone_free(&p, static_cast<phys_zone>(i));
    return frames;
}

}  // namespace tests
