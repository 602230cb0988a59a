// SPDX-License-Identifier: GPL-2.0-only
// recorder.h - one recording: buffers filled by the program, a thread that builds and compresses the trace.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "event_buffers.h"
#include "settings.h"
#include "tessera/trace/trace.h"

namespace tessera::tracer {

/// Where the recorded thread writes its next event; between two blocks `at` stays below soft_end, except at hand-over.
struct Cursor {
    Event* at = nullptr;
    Event* soft_end = nullptr;  ///< behind it a new block needs a new buffer
    Event* hard_end = nullptr;
};

class Recorder {
public:
    /// Fills `cursor`, which callbacks of QEMU write through. It must outlive the recorder.
    Recorder(Settings settings, Cursor& cursor);

    const Settings& settings() const { return settings_; }

    /// Gives the full buffer to the other thread; false once the limit of accesses is reached.
    bool hand_over();
    [[noreturn]] void overflow();

    /// Appends one access in a separate block (a line that the kernel copied); false if the limit is reached.
    bool single(const TranslatedBlock* block, Event access) {
        if (cursor_.at >= cursor_.soft_end && !hand_over()) return false;
        *cursor_.at++ = block_event(block);
        *cursor_.at++ = access;
        return true;
    }

    /// Remembers how far the pools are used now. The last call counts, unless the limit was reached: then it is the state at
    /// the end of the buffer that reached it. The program runs on until the other thread says so, and how far depends on time.
    void snapshot_pools();
    /// Completes the trace. `threads`: how many made accesses in the region of interest; `stopped`: the program
    /// is ended because of the limit.
    void finish(uint32_t threads, bool stopped);
    /// After fork, in the child: the compressing thread is not there.
    void abandon();

private:
    std::vector<trace::Pool> pools_now() const;
    void next_buffer();
    void build();  // the thread

    Cursor& cursor_;
    EventBuffer* current_ = nullptr;
    EventBuffers buffers_;
    Settings settings_;
    std::optional<trace::Writer> writer_;
    std::vector<trace::Pool> pools_, pools_at_limit_;
    std::atomic<bool> limit_reached_ = false;
    std::thread builder_;
};

/// Prints "tessera-trace plugin: <message>" and ends the process with status 1. If the program ran on without a
/// recording, the run would look like a success.
[[noreturn]] void die(const std::string& message);

}  // namespace tessera::tracer
