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

class Recorder {
public:
    explicit Recorder(Settings settings);

    const Settings& settings() const { return settings_; }

    /// Appends a block event; false once the limit of accesses is reached. Called by the recorded thread.
    bool block(const TranslatedBlock* block) {
        if (cursor_ >= soft_end_ && !hand_over()) return false;
        *cursor_++ = block_event(block);
        return true;
    }
    void access(Event event) {
        if (cursor_ == hard_end_) overflow();
        *cursor_++ = event;
    }

    /// Remembers how far the pools are used now; the last call counts.
    void snapshot_pools();
    /// Completes the trace. `threads`: how many made accesses in the region of interest.
    void finish(uint32_t threads);
    /// After fork, in the child: the compressing thread is not there.
    void abandon();

private:
    bool hand_over();
    [[noreturn]] void overflow();
    void build();  // the thread

    Event* cursor_ = nullptr;
    Event* soft_end_ = nullptr;
    Event* hard_end_ = nullptr;
    EventBuffer* current_ = nullptr;
    EventBuffers buffers_;
    Settings settings_;
    std::optional<trace::Writer> writer_;
    std::vector<trace::Pool> pools_;
    std::atomic<bool> limit_reached_ = false;
    std::thread builder_;
};

/// Prints "tessera-trace plugin: <message>" and ends the process with status 1: a program that runs on
/// without being recorded would look like a success.
[[noreturn]] void die(const std::string& message);

}  // namespace tessera::tracer
