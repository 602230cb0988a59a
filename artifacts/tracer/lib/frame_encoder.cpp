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
    if (ZSTD_isError(size)) throw TraceError("compress a frame", ZSTD_getErrorName(size), "free memory and record again");
    return size;
}

FrameEncoder::~FrameEncoder() {
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    for (Worker& worker : workers_)
        if (worker.thread.joinable()) worker.thread.join();
}

CollectedFrame& FrameEncoder::take() {
    std::unique_lock lock(mutex_);
    if (free_.empty() && frames_.size() <= thread_count) free_.push_back(frames_.emplace_back(std::make_unique<CollectedFrame>()).get());
    changed_.wait(lock, [&] { return !free_.empty(); });
    if (error_) std::rethrow_exception(error_);
    taken_ = free_.back();
    free_.pop_back();
    taken_->executions = taken_->accesses = 0;
    taken_->instructions = 0;
    return *taken_;
}

void FrameEncoder::submit(std::shared_ptr<const BlockTable> blocks) {
    uint64_t number = 0;
    {
        std::lock_guard lock(mutex_);
        number = submissions_++;
        submitted_.push_back({taken_, std::move(blocks), number});
    }
    if (number < thread_count) start_thread(workers_[number]);
    changed_.notify_all();
}

void FrameEncoder::start_thread(Worker& worker) {
    // Blocks all signals in this thread: under QEMU they belong to the recorded program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker.thread = std::thread([this, &worker] { run(worker); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void FrameEncoder::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return written_ == submissions_; });
    if (error_) std::rethrow_exception(error_);
}

FrameTotals FrameEncoder::totals() const {
    FrameTotals sum;
    for (const Worker& worker : workers_) {
        sum.pages.add_all(worker.totals.pages);
        sum.stores += worker.totals.stores;
        sum.kernel_accesses += worker.totals.kernel_accesses;
    }
    return sum;
}

// Jobs begin in order, so some thread always works on the job that must be written next. After a failure, the other jobs
// end without writing.
void FrameEncoder::run(Worker& worker) {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return !submitted_.empty() || ending_; });
        if (submitted_.empty()) return;
        const Job job = std::move(submitted_.front());
        submitted_.pop_front();
        lock.unlock();
        std::exception_ptr error;
        IndexEntry entry;
        try {
            entry = encode(worker, job);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        changed_.wait(lock, [&] { return written_ == job.number; });
        if (!error && !error_) {
            lock.unlock();
            try {
                entry.offset = offset_;
                file_.write_at(offset_, worker.stored.data(), entry.stored_bytes);
                offset_ += entry.stored_bytes;
                index_.push_back(entry);
            } catch (...) {
                error = std::current_exception();
            }
            lock.lock();
        }
        if (!error_) error_ = error;
        ++written_;
        free_.push_back(job.frame);
        changed_.notify_all();
    }
}

/// All of the entry but its place in the file; the bytes lie in `worker.stored`.
IndexEntry FrameEncoder::encode(Worker& worker, const Job& job) {
    const CollectedFrame& collected = *job.frame;
    const FrameContent frame{{collected.block_ids.data(), collected.executions},
                             {collected.access_counts.data(), collected.executions},
                             {collected.addresses.data(), collected.accesses},
                             {collected.is_store.data(), collected.accesses}};
    const std::string& text = encode_frame(frame, job.blocks->slots, worker.buffers);
    IndexEntry entry;
    entry.stored_bytes = compress(text, worker.stored);
    entry.text_bytes = text.size();
    entry.executions = collected.executions;
    entry.accesses = collected.accesses;
    entry.instructions = collected.instructions;
    entry.stored_digest = digest(worker.stored.data(), entry.stored_bytes);
    entry.content_digest = frame_digest(frame);

    FrameTotals& totals = worker.totals;
    for (const uint64_t address : frame.addresses) totals.pages.add(address);
    for (const uint8_t store : frame.is_store) totals.stores += store;
    for (size_t e = 0; job.blocks->any_kernel && e < collected.executions; ++e)
        if (job.blocks->is_kernel[frame.block_ids[e]]) totals.kernel_accesses += frame.access_counts[e];
    return entry;
}

}  // namespace tessera::trace
