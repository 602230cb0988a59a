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

/// Watermarks that fit the settings of huge pages.
inline phys_config config_for(const thp &settings) {
    phys_config config = phys_config_default();
    config.thp = settings.enabled == THP_NEVER ? PHYS_THP_OFF : PHYS_THP_ON;
    return config;
}

/// A process on a PC. The root table has order 0, so that every table is one frame.
class Process {
public:
    explicit Process(thp settings = thp_default(), uint64_t bytes = 256 * mib) : memory(Memory::pc(bytes, config_for(settings))) {
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
    /// Takes all blocks of 2MB; of each, one frame stays in use, so that no block of 2MB is free.
    void use_up_blocks() {
        std::vector<uint32_t> blocks;
        for (uint32_t frame; (frame = memory.alloc(9)) != PHYS_NO_FRAME;) blocks.push_back(frame);
        for (const uint32_t block : blocks) {
            if (!phys_split_used(&memory.p, block, 0, &memory.failure)) std::abort();
            for (uint32_t i = 1; i < 512; ++i)
                if (!memory.release(block + i)) std::abort();
        }
        percpu_drain_all(&memory.p, 0);
        for (uint32_t frame; (frame = memory.alloc(9)) != PHYS_NO_FRAME;) continue;
        if (blocks.empty()) std::abort();
        kept = blocks[blocks.size() / 2];
    }
    /// Afterwards: frees one of the frames that stayed in use, and so a block of 2MB.
    void free_one_block() {
        if (!memory.release(kept)) std::abort();
        percpu_drain_all(&memory.p, 0);
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
    uint32_t kept = 0;
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
