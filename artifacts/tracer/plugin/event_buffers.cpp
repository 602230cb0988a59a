// SPDX-License-Identifier: GPL-2.0-only
#include "event_buffers.h"

namespace tessera::tracer {

EventBuffers::EventBuffers() {
    for (int i = 0; i < buffer_count; ++i) free_.push_back(all_.emplace_back(std::make_unique<EventBuffer>()).get());
}

EventBuffer* EventBuffers::take_free() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !free_.empty(); });
    EventBuffer* buffer = free_.front();
    free_.pop_front();
    buffer->count = 0;
    buffer->program_events.clear();
    return buffer;
}

void EventBuffers::give_full(EventBuffer* buffer) {
    {
        std::lock_guard lock(mutex_);
        full_.push_back(buffer);
    }
    changed_.notify_all();
}

EventBuffer* EventBuffers::take_full() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !full_.empty() || closed_; });
    if (full_.empty()) return nullptr;
    EventBuffer* buffer = full_.front();
    full_.pop_front();
    return buffer;
}

void EventBuffers::give_free(EventBuffer* buffer) {
    {
        std::lock_guard lock(mutex_);
        free_.push_back(buffer);
    }
    changed_.notify_all();
}

void EventBuffers::close() {
    {
        std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

}  // namespace tessera::tracer
