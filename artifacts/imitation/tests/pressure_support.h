// pressure_support.h - a small machine under memory pressure whose pages have contents: one number for each page.
#pragma once

#include <map>

#include "vm_support.h"

extern "C" {
#include "lru/check.h"
#include "lru/workingset.h"
#include "swap/cluster.h"
#include "vm/anon.h"
#include "vm/compaction.h"
#include "vm/khugepaged.h"
#include "vm/slow_path.h"
}

namespace tests {

/// A process with swap. A write stores a new number in its page; a read must find the last one, wherever the page was meanwhile:
/// in a frame, in a slot, in another frame. The numbers live beside the imitation, by frame and by slot.
class Pressure : public Process {
public:
    explicit Pressure(thp settings = settings_of(THP_NEVER), uint64_t bytes = 32 * mib, uint32_t slots = 8192, bool synchronous = false)
        : Process(settings, bytes), in_frame(memory.p.frames.count, 0), in_slot(slots, 0) {
        vm_swap_on(&system, slots, synchronous);
        slow_path_start(&system);
        system.swap.context = this;
        system.swap.transfer = [](void *context, bool write, uint32_t slot, uint32_t frame) {
            auto *self = static_cast<Pressure *>(context);
            (write ? self->in_slot[slot] : self->in_frame[frame]) = write ? self->in_frame[frame] : self->in_slot[slot];
        };
        compaction_moves();
    }
    ~Pressure() { end(); }

    /// One access, and what kswapd does afterwards. Returns the fault.
    fault access(uint64_t page, bool write) {
        const fault result = touch(page, write);
        if (result.kind == FAULT_NEEDS || result.kind == FAULT_BAD_ACCESS) return result;
        fresh(result, page);
        uint64_t &content = in_frame[frame_of(page)];
        if (write) expected[page] = content = ++last;
        const auto known = expected.find(page);
        if (content != (known == expected.end() ? 0 : known->second)) wrong = page;
        vm_background(&system, 0);
        return result;
    }
    uint32_t frame_of(uint64_t page) const {
        unsigned level = 0;
        const pt_entry one = entry(page, &level);
        if (!pt_present(one) || one & PT_ZERO) return 0;      // frame 0 stands for zeros
        return pt_value(one) + (level == 1 ? static_cast<uint32_t>(page % 512) : 0);
    }
    /// khugepaged; its copies are not hooked, so contents of new blocks come from what is expected.
    void collapse() {
        const events sink = memory.p.events;
        memory.p.events = {};
        memory.p.events.context = this;
        memory.p.events.scan = [](void *context, const ::process *, uint64_t page, int result) {
            auto *self = static_cast<Pressure *>(context);
            for (uint64_t i = page; result == COLLAPSE_DONE && i < page + 512; ++i) {
                const auto known = self->expected.find(i);
                self->in_frame[self->frame_of(i)] = known == self->expected.end() ? 0 : known->second;
            }
        };
        khugepaged_wake(&system, 0);
        memory.p.events = sink;
    }
    void forget(uint64_t page, uint64_t pages) { expected.erase(expected.lower_bound(page), expected.lower_bound(page + pages)); }

    std::vector<uint64_t> in_frame, in_slot;
    std::map<uint64_t, uint64_t> expected;
    uint64_t last = 0, wrong = 0;

private:
    /// New frames are zeroed.
    void fresh(const fault &result, uint64_t page) {
        if (result.kind != FAULT_PAGE && result.kind != FAULT_COPY) return;
        for (uint32_t i = 0; i < 1u << result.order; ++i) in_frame[result.frame + i] = 0;
        (void)page;
    }
    void compaction_moves() {
        original = system.anon.migrate;
        system.anon.migrate = [](void *context, uint32_t from, uint32_t to, uint32_t cpu) {
            Pressure *self = nullptr;
            auto *of = static_cast<vm_system *>(context);
            self = static_cast<Pressure *>(of->swap.context);
            self->in_frame[to] = self->in_frame[from];
            ++self->moved;
            return self->original(context, from, to, cpu);
        };
    }
    bool (*original)(void *, uint32_t, uint32_t, uint32_t) = nullptr;

public:
    uint64_t moved = 0;
};

}  // namespace tests
