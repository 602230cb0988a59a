// SPDX-License-Identifier: GPL-2.0-only
// region.h - the state of one recording inside QEMU: which phase it is in, and which thread is recorded.
//
// A reset adds or removes the callbacks of code. After a reset, the thread that asked for it holds QEMU 7.2's plugin
// lock for ever, so any other thread that starts, ends or exits the process would hang. So the plugin instruments a
// program with threads from the start (`threads=1`). The exception is `switch:`, where the main thread resets once,
// after all threads have started, and is the thread that exits.
//
// Threads are numbered by their creation: 0 is the main thread. QEMU's index of a thread is another number: when the thread
// with the highest index ends, the next one that starts gets this index. So `slots` has the number of the thread that
// has an index now. QEMU 7.2 reports a new thread from the thread that creates it, under its lock of clone(), so the order
// of these reports is the order of creation, and the thread that had the index before runs no more code.
#pragma once

extern "C" {
#include <qemu-plugin.h>
}

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "control.h"
#include "recorder.h"

namespace tessera::tracer {

constexpr unsigned nobody = ~0u;

/// Blocks that a thread executes in the region before it counts as the busiest.
constexpr uint64_t busiest_blocks = uint64_t{1} << 16;

// Read by every callback, so plain globals.
extern std::atomic<unsigned> recorded_vcpu;
extern Cursor cursor;
extern Recorder* recorder;

/// Most threads at the same time. Untouched slots take no memory.
constexpr unsigned max_slots = 1u << 16;

/// What the thread that has an index of QEMU's did.
struct Slot {
    std::atomic<unsigned> number = 0;  ///< by creation
    /// Blocks that it executed in the region without being recorded. No lock: a busy thread would starve the others.
    std::atomic<uint64_t> blocks = 0;
};

enum class Instrument { nothing, counts, events, gap };

/// Position in the region and in its windows (window.h).
struct Windows {
    uint64_t units = 0;     ///< the position: of all blocks of the region that ran
    uint64_t insns = 0;     ///< their instructions
    uint64_t next_at = 0;   ///< in a gap, the position where the next window begins
    uint64_t begun = 0;
    bool in_gap = false;
    bool last = false;      ///< no window follows this gap
};

struct Region {
    qemu_plugin_id_t id = 0;
    void (*register_callbacks)() = nullptr;
    Instrument instrument = Instrument::nothing;  ///< of newly translated blocks
    std::atomic<bool> inside = false;
    std::atomic<bool> looking = false; ///< inside the region, but the thread to record is not chosen yet
    bool begun = false;
    bool chosen = false;               ///< the thread to record is chosen; it stays the same in later regions
    unsigned recorded_number = nobody; ///< of the chosen thread, by creation
    unsigned recorded_slot = nobody;   ///< of the chosen thread, while it runs
    unsigned beginner = nobody;        ///< the thread that began the region, by creation
    bool stopped = false;              ///< the limit was reached: later markers have no effect
    bool was_reset = false;
    bool child = false;                ///< a forked child: it is not recorded
    unsigned created = 0;              ///< threads so far, with the main one
    uint64_t skipped = 0;              ///< accesses counted under Roi::skip
    Windows windows;
    Control control;
    std::mutex mutex;                  ///< of translating threads
    std::array<Slot, max_slots> slots{};
    uint32_t ended_threads = 0;        ///< of threads whose slots others got: those that ran in the region
    uint64_t ended_blocks = 0;         ///< of threads whose slots others got

    /// A thread is created, or the program begins.
    void add_thread(unsigned vcpu);
    unsigned number_of(unsigned vcpu) const { return slots[vcpu].number.load(std::memory_order_relaxed); }
    /// `vcpu` is the thread to record.
    void choose(unsigned vcpu);
    /// How many threads ran in the region, and the chosen one's number and blocks. `recorded_blocks`: those of the recorder.
    Threads threads(uint64_t recorded_blocks) const;
};
extern Region region;

/// Makes QEMU translate all code again, with the callbacks that `region.instrument` asks for.
void translate_again(unsigned vcpu);
/// The region begins, seen by `vcpu`.
void begin_region(unsigned vcpu);
/// The region ends; permanently if the limit is reached.
void end_region(unsigned vcpu, bool for_good);
/// Called for a block of a thread that is not recorded. Returns true if this thread is recorded from now on.
bool elected(unsigned vcpu);

}  // namespace tessera::tracer
