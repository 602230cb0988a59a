// SPDX-License-Identifier: GPL-2.0-only
// event_buffers.h - a few large buffers that the program fills and the compressing thread empties.
//
// If all buffers are full, the program waits: memory stays bounded and no event is lost.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "event.h"
#include "tessera/trace/trace.h"

namespace tessera::tracer {

struct EventBuffer {
    static constexpr size_t capacity = size_t{1} << 19;
    /// Room that a block keeps for its accesses: 512 instructions of which some save a whole register file.
    static constexpr size_t margin = size_t{1} << 16;
    std::unique_ptr<Event[]> events{new Event[capacity + 1]};  ///< one more for the builder's sentinel
    size_t count = 0;
    /// Calls to memory management, and the number of events before each; it may lie inside an execution.
    std::vector<std::pair<size_t, trace::Event>> program_events;
    std::vector<trace::Pool> pools;  ///< as far as they were used when the buffer was full
    // What was known when this buffer had been read, before it is filled again:
    uint64_t full_windows = 0;   ///< complete windows of the trace
    bool limit_reached = false;  ///< whether the trace has all its accesses
};

constexpr int buffer_count = 4;

/// Least accesses between two windows. The program learns that a window is full when it gets that buffer back, after
/// filling at most all others; an event is at most one access (an atomic one two, but then few are). So the gap begins before the next window must.
constexpr uint64_t min_gap_accesses = uint64_t{1} << 22;
static_assert(min_gap_accesses > (buffer_count + 1) * EventBuffer::capacity);

class EventBuffers {
public:
    EventBuffers();
    EventBuffer* take_free();              ///< waits for one
    void give_full(EventBuffer* buffer);
    EventBuffer* take_full();              ///< waits for one; nullptr after close() when none is left
    void give_free(EventBuffer* buffer);
    void close();

private:
    std::vector<std::unique_ptr<EventBuffer>> all_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<EventBuffer*> free_, full_;
    bool closed_ = false;
};

}  // namespace tessera::tracer
