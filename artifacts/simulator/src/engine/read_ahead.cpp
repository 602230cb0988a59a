#include "engine/read_ahead.h"

namespace tessera::sim {

void ReadAhead::rewind() {
    stop();
    source_.rewind();
    ready_ = end_ = stopping_ = false;
    failure_ = nullptr;
    thread_ = std::thread([this] { decode(); });
}

bool ReadAhead::next(trace::Frame& out) {
    if (!thread_.joinable()) rewind();  // a stream that was never rewound is at its beginning
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ready_; });
    if (failure_) std::rethrow_exception(failure_);
    if (end_) return false;
    std::swap(out, ahead_);  // the decoder reuses the frame that the reader has finished
    ready_ = false;
    changed_.notify_all();
    return true;
}

void ReadAhead::decode() {
    while (true) {
        bool more = false;
        std::exception_ptr failure;
        try {
            more = source_.next(ahead_);
        } catch (...) {
            failure = std::current_exception();
        }
        std::unique_lock lock(mutex_);
        failure_ = failure;
        end_ = !more;
        ready_ = true;
        changed_.notify_all();
        if (!more) return;
        changed_.wait(lock, [&] { return !ready_ || stopping_; });
        if (stopping_) return;
    }
}

void ReadAhead::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

}  // namespace tessera::sim
