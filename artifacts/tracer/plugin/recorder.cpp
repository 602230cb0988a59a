// SPDX-License-Identifier: GPL-2.0-only
#include "recorder.h"

#include <csignal>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "pools.h"
#include "stream_builder.h"

namespace tessera::tracer {

void die(const Problem& problem) { die(Error(problem)); }

void die(const std::exception& error) {
    std::fprintf(stderr, "tessera-trace plugin: %s\n", error.what());
    _exit(kExitFailed);
}

Recorder::Recorder(Settings settings, Cursor& cursor)
    : cursor_(cursor), settings_(std::move(settings)), writer_(trace::Writer::create(settings_.out)) {
    next_buffer();
    // The guest's signals belong to QEMU's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    builder_ = std::thread([this] { build(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Recorder::next_buffer() {
    current_ = buffers_.take_free();
    full_windows_ = current_->full_windows;
    cursor_.at = current_->events.get();
    cursor_.soft_end = cursor_.at + EventBuffer::capacity - EventBuffer::margin;
    cursor_.hard_end = cursor_.at + EventBuffer::capacity;
}

bool Recorder::hand_over() {
    std::unique_lock lock(program_events_mutex_, std::defer_lock);
    if (settings_.events) lock.lock();
    current_->count = static_cast<size_t>(cursor_.at - current_->events.get());
    current_->program_events.swap(pending_events_);
    if (settings_.threads)
        block_events_ +=
            static_cast<uint64_t>(std::count_if(current_->events.get(), cursor_.at, [](Event event) { return event & block_flag; }));
    has_blocks_ |= current_->count != 0;
    if (settings_.max_accesses != 0) current_->pools = pools_now();
    buffers_.give_full(current_);
    next_buffer();
    return !current_->limit_reached;
}

void Recorder::begin_window() {
    static const TranslatedBlock* const mark = [] {
        auto* const block = new TranslatedBlock;
        block->begins_window = true;
        return block;
    }();
    ++begun_windows_;
    if (cursor_.at >= cursor_.soft_end) hand_over();
    *cursor_.at++ = block_event(mark);
}

/// Another thread than the recorded one reads the cursor while it moves, so its position is that of a near block.
void Recorder::add_program_event(const mosalloc_event& told, const std::string& path) {
    std::lock_guard lock(program_events_mutex_);
    try {
        if (!program_events_) program_events_.emplace(ProgramEvents::read_spans(settings_.pool_map));
        const size_t before = static_cast<size_t>(__atomic_load_n(&cursor_.at, __ATOMIC_RELAXED) - current_->events.get());
        const bool recorded = has_blocks_ || before != 0;
        if (recorded) program_events_->end_start();
        for (const trace::Event& event : program_events_->of(told, path))
            if (recorded) pending_events_.emplace_back(before, event);
    } catch (const std::exception& error) {
        die(error);
    }
}

void Recorder::overflow() {
    die({"record " + settings_.out, "one basic block made more than " + std::to_string(EventBuffer::margin) + " accesses",
         "report this program, or raise EventBuffer::margin and build the tracer again"});
}

/// Reads the buffer up to each event of the program, or rather to the end of the execution there.
void Recorder::build_from(StreamBuilder& builder, EventBuffer& buffer) {
    Event* const events = buffer.events.get();
    size_t from = 0;
    const auto read_to = [&](size_t to) {
        const Event kept = to < buffer.count ? events[to] : 0;  // the builder puts a sentinel there
        const bool more = builder.add(events + from, events + to);
        if (to < buffer.count) events[to] = kept;
        from = to;
        return more;
    };
    const auto reached = [&] {
        pools_at_limit_ = std::move(buffer.pools);
        limit_reached_ = true;
    };
    for (auto& [before, event] : buffer.program_events) {
        size_t to = std::max(before, from);
        while (to < buffer.count && !(events[to] & block_flag)) ++to;
        if (!read_to(std::min(to, buffer.count))) return reached();
        event.block = writer_->block_executions();
        placed_events_.push_back(event);
    }
    if (!read_to(buffer.count)) reached();
}

void Recorder::build() {
    try {
        StreamBuilder builder(*writer_, settings_.windows > 1 ? settings_.window_accesses : settings_.max_accesses, settings_.windows);
        while (EventBuffer* buffer = buffers_.take_full()) {
            if (!limit_reached_) build_from(builder, *buffer);
            buffer->full_windows = builder.full_windows();
            buffer->limit_reached = limit_reached_;
            buffers_.give_free(buffer);
        }
    } catch (const std::exception& error) {
        writer_.reset();  // removes the partial file
        die(error);
    }
}

std::vector<trace::Pool> Recorder::pools_now() const {
    if (settings_.pool_map.empty()) return {};
    try {
        return read_pools(settings_.pool_map);
    } catch (const std::exception& error) {
        die(error);
    }
}

void Recorder::snapshot_pools() { pools_ = pools_now(); }

void Recorder::finish(const std::function<Threads(uint64_t)>& threads, bool stopped, const trace::RegionCount& count) {
    hand_over();
    buffers_.close();
    builder_.join();
    trace::Header header;
    header.program = settings_.program;
    header.origin = "qemu";
    header.pools = limit_reached_ ? pools_at_limit_ : pools_;
    const Threads seen = threads(block_events_ - singles_);
    header.threads = seen.count;
    if (seen.count > 1) header.thread = {true, seen.number, seen.blocks, seen.all_blocks};
    header.complete_roi = !limit_reached_ && settings_.windows == 1;
    header.region = count;
    header.kernel_modelled = settings_.kernel_accesses;
    header.stopped = stopped;
    try {
        if (settings_.events) {
            std::lock_guard lock(program_events_mutex_);
            if (!program_events_) program_events_.emplace(ProgramEvents::read_spans(settings_.pool_map));
            writer_->set_events(program_events_->section(std::move(placed_events_), writer_->block_executions()));
        }
        writer_->finish(header);
    } catch (const std::exception& error) {
        writer_.reset();
        die(error);
    }
}

void Recorder::abandon() {
    builder_.detach();
    cursor_.soft_end = cursor_.hard_end = current_->events.get() + EventBuffer::capacity;
}

}  // namespace tessera::tracer
