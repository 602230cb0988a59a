#include "frame_encoder.h"

#include <pthread.h>
#include <zstd.h>

#include <csignal>

#include "digest.h"

namespace tessera::trace {
namespace {

// Level 1: higher levels gain about a tenth in size here and halve the recording rate.
constexpr int compression_level = 1;

}  // namespace

size_t compress(const std::string& text, std::string& out) {
    if (out.size() < ZSTD_compressBound(text.size())) out.resize(ZSTD_compressBound(text.size()));
    const size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), compression_level);
    if (ZSTD_isError(size))
        throw TraceError(std::string("compress a frame: ") + ZSTD_getErrorName(size) + "\n  what to do: free memory and record again");
    return size;
}

FrameEncoder::~FrameEncoder() {
    if (!thread_.joinable()) return;
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void FrameEncoder::submit(CollectedFrame& frame, const BlockTable& blocks) {
    {
        std::lock_guard lock(mutex_);
        frame_ = &frame;
        blocks_ = &blocks;
    }
    changed_.notify_all();
    if (thread_.joinable()) return;
    // The process's signals are not for this thread: under QEMU they are the recorded program's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void FrameEncoder::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !frame_; });
    if (error_) std::rethrow_exception(error_);
}

void FrameEncoder::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return frame_ || ending_; });
        if (!frame_) return;
        lock.unlock();
        std::exception_ptr error;
        try {
            encode(*frame_, *blocks_);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        if (!error_) error_ = error;
        frame_ = nullptr;
        changed_.notify_all();
    }
}

void FrameEncoder::encode(const CollectedFrame& collected, const BlockTable& blocks) {
    const FrameContent frame{{collected.block_ids.data(), collected.executions}, {collected.access_counts.data(), collected.executions},
                             {collected.addresses.data(), collected.accesses}, {collected.is_store.data(), collected.accesses}};
    const std::string& text = encode_frame(frame, blocks.slots, buffers_);
    IndexEntry entry;
    entry.offset = offset_;
    entry.stored_bytes = compress(text, stored_);
    entry.text_bytes = text.size();
    entry.executions = collected.executions;
    entry.accesses = collected.accesses;
    entry.instructions = collected.instructions;
    entry.stored_digest = digest(stored_.data(), entry.stored_bytes);
    entry.content_digest = frame_digest(frame);
    file_.write_at(offset_, stored_.data(), entry.stored_bytes);
    offset_ += entry.stored_bytes;
    index_.push_back(entry);

    for (const uint64_t address : frame.addresses) pages_.add(address);
    for (const uint8_t store : frame.is_store) stores_ += store;
    for (size_t e = 0; blocks.any_kernel && e < collected.executions; ++e)
        if (blocks.is_kernel[frame.block_ids[e]]) kernel_accesses_ += frame.access_counts[e];
}

}  // namespace tessera::trace
