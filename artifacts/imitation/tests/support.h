// support.h - memories, logs and short names for the tests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

extern "C" {
#include "base/random.h"
#include "phys/alloc.h"
#include "phys/buddy.h"
#include "phys/check.h"
#include "phys/fallback.h"
#include "phys/fragmenter.h"
#include "phys/fragmenter_plan.h"
#include "phys/highatomic.h"
#include "phys/indices.h"
#include "phys/percpu.h"
#include "phys/snapshot.h"
#include "phys/take.h"
#include "phys/watermarks.h"
}

namespace tests {

constexpr uint64_t mib = 1 << 20, gib = 1 << 30;

/// A memory and the log of its decisions. Frame ranges are [first, end).
class Memory {
public:
    static Memory pc(uint64_t bytes, phys_config config = phys_config_default()) {
        Memory memory;
        memory_map map;
        error failure;
        if (!memory_map_pc(&map, bytes, &failure) || !phys_create(&memory.p, &map, &config, &failure)) std::abort();
        memory_map_destroy(&map);
        return memory;
    }
    static Memory of(std::vector<frame_range> ranges, phys_config config = phys_config_default()) {
        Memory memory;
        memory_map map{};
        error failure;
        for (const frame_range &range : ranges) memory_map_add(&map, false, range);
        if (!phys_create(&memory.p, &map, &config, &failure)) std::abort();
        memory_map_destroy(&map);
        return memory;
    }
    Memory() = default;
    Memory(Memory &&other) noexcept : p(other.p) { other.p = phys{}; }
    Memory &operator=(const Memory &) = delete;
    ~Memory() { phys_destroy(&p); }

    /// From now on, decisions are recorded: as structures and as text.
    void record() {
        p.events.context = &events;
        p.events.frames = [](void *to, const phys_event *event) { static_cast<std::vector<phys_event> *>(to)->push_back(*event); };
    }
    std::string log_text() const {
        std::string all;
        char text[PHYS_EVENT_TEXT_BYTES];
        for (const phys_event &event : events) all.append(text, phys_event_text(&event, text)) += "\n";
        return all;
    }
    std::vector<phys_event> of_kind(int kind) const {
        std::vector<phys_event> found;
        for (const phys_event &event : events)
            if (event.kind == kind) found.push_back(event);
        return found;
    }
    std::vector<uint32_t> list(zone &of_zone, unsigned order, int type) const { return walk(free_list(&of_zone, order, type)); }
    std::vector<uint32_t> percpu(zone &of_zone, uint32_t cpu, unsigned order, int type) const {
        return walk(of_zone.percpu[cpu].first_list + percpu_index(order, type));
    }
    uint32_t alloc(unsigned order = 0, phys_type type = PHYS_MOVABLE, uint8_t cpu = 0) {
        phys_request request = phys_request_default(order, type);
        request.cpu = cpu;
        return phys_alloc(&p, &request).frame;
    }
    bool release(uint32_t frame, unsigned order = 0, uint32_t cpu = 0) { return phys_free(&p, frame, order, cpu, &failure); }
    std::string snapshot() const {
        char *text = nullptr;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        if (!snapshot_write(&p, out)) std::abort();
        std::fclose(out);
        std::string copy(text, bytes);
        std::free(text);
        return copy;
    }

    phys p{};
    std::vector<phys_event> events;
    error failure{};

private:
    std::vector<uint32_t> walk(uint32_t list) const {
        std::vector<uint32_t> frames;
        for (uint32_t frame = list_first(p.frames.links, list); frame != list; frame = list_first(p.frames.links, frame))
            frames.push_back(frame);
        return frames;
    }
};

/// Lines that reclaim, swap and compaction tell while `run` works.
inline std::string decisions_of(phys &p, const std::function<void()> &run) {
    std::string all;
    p.events = {};
    p.events.context = &all;
    p.events.decision = [](void *to, const char *text) { static_cast<std::string *>(to)->append(text) += '\n'; };
    run();
    p.events = {};
    return all;
}

inline std::vector<uint32_t> blocks_of(const zone &of_zone) { return std::vector<uint32_t>(of_zone.blocks, of_zone.blocks + PHYS_ORDERS); }

}  // namespace tests
