// SPDX-License-Identifier: GPL-2.0-only
// recorder.h - one recording: buffers filled by the program, a thread that builds and compresses the trace.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "event_buffers.h"
#include "program_events.h"
#include "settings.h"
#include "tessera/trace/trace.h"

namespace tessera::tracer {

/// Where the recorded thread writes its next event; between two blocks `at` stays below soft_end, except at hand-over.
struct Cursor {
    Event* at = nullptr;
    Event* soft_end = nullptr;  ///< behind it a new block needs a new buffer
    Event* hard_end = nullptr;
};

class StreamBuilder;

/// Threads in the region of interest, and which one is recorded.
struct Threads {
    uint32_t count = 1;        ///< threads that ran in the region
    unsigned number = 0;       ///< of the recorded one, by creation
    uint64_t blocks = 0;       ///< that the recorded thread executed while it was recorded
    uint64_t all_blocks = 0;   ///< that all threads executed in the region
};

class Recorder {
public:
    /// Fills `cursor`, which callbacks of QEMU write through. It must outlive the recorder.
    Recorder(Settings settings, Cursor& cursor);

    const Settings& settings() const { return settings_; }

    /// Gives the full buffer to the other thread, and takes the one that has waited longest; false once that one says that the
    /// limit of accesses is reached. The program gets its buffers back in order, so where it learns of the limit depends on
    /// events only, not on the speed of the other thread.
    bool hand_over();
    [[noreturn]] void overflow();

    /// Whether the window that is recorded was full at the end of the buffer that came back last.
    bool window_is_full() const { return full_windows_ > begun_windows_; }
    /// Events behind this call belong to the next window.
    void begin_window();

    /// Appends one access in a separate block (a line that the kernel copied). The caller made room.
    void single(const TranslatedBlock* block, Event access) {
        *cursor_.at++ = block_event(block);
        *cursor_.at++ = access;
        ++singles_;
    }

    /// A call to memory management, by any thread. Its position is the next block of the recorded thread.
    void add_program_event(const mosalloc_event& told, const std::string& path);

    /// Remembers how far the pools are used now. The last call counts, unless the limit was reached: then it is the state at
    /// the end of the buffer that reached it. The program runs on until that buffer comes back.
    void snapshot_pools();
    /// Completes the trace. `threads` gets the number of recorded blocks, also of those behind the limit of accesses;
    /// `stopped`: the program is ended because of the limit; `count`: of accesses of the whole region, if it was counted.
    void finish(const std::function<Threads(uint64_t)>& threads, bool stopped, const trace::RegionCount& count);
    /// After fork, in the child: the compressing thread is not there.
    void abandon();

private:
    std::vector<trace::Pool> pools_now() const;
    void next_buffer();
    void build();  // the thread
    void build_from(StreamBuilder& builder, EventBuffer& buffer);

    Cursor& cursor_;
    EventBuffer* current_ = nullptr;
    EventBuffers buffers_;
    Settings settings_;
    std::optional<trace::Writer> writer_;
    std::vector<trace::Pool> pools_, pools_at_limit_;
    bool limit_reached_ = false;  // of the thread, until it has ended
    std::mutex program_events_mutex_;  // of the next two, and of current_ while it is replaced
    std::optional<ProgramEvents> program_events_;
    std::vector<std::pair<size_t, trace::Event>> pending_events_;  // for the buffer that is being filled
    bool has_blocks_ = false;
    std::vector<trace::Event> placed_events_;  // of the thread, until it has ended
    uint64_t full_windows_ = 0, begun_windows_ = 0;  // behind the first window
    uint64_t block_events_ = 0, singles_ = 0;        // of a program with threads
    std::thread builder_;
};

/// Prints "tessera-trace plugin: <message>" and ends the process with status 1. If the program ran on without a
/// recording, the run would look like a success.
[[noreturn]] void die(const Problem& problem);
[[noreturn]] void die(const std::exception& error);

}  // namespace tessera::tracer
