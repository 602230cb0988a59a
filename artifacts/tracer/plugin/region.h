// SPDX-License-Identifier: GPL-2.0-only
// region.h - the state of one recording inside QEMU: which phase it is in, and which thread is recorded.
//
// A reset adds or removes the callbacks of code. After a reset, the thread that asked for it holds QEMU 7.2's plugin
// lock for ever, so any other thread that starts, ends or exits the process would hang. So the plugin instruments a
// program with threads from the start (`threads=1`). The exception is `switch:`, where the main thread resets once,
// after all threads have started, and is the thread that exits.
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

/// Most threads with separate counts; later threads share the last count.
constexpr unsigned max_threads = 1024;

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
    bool chosen = false;               ///< the thread to record is chosen
    bool stopped = false;              ///< the limit was reached: later markers have no effect
    bool was_reset = false;
    bool child = false;                ///< a forked child: it is not recorded
    unsigned vcpus = 0;
    uint64_t skipped = 0;              ///< accesses counted under Roi::skip
    Windows windows;
    Control control;
    std::mutex mutex;                  ///< of translating threads
    /// Blocks that threads executed in the region without being recorded. No lock: a busy thread would starve the others.
    std::array<std::atomic<uint64_t>, max_threads> blocks_by_thread{};

    uint32_t threads_seen() const;
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
