// frame_encoder.h - encodes frames in two threads while the writer collects the next frame.
//
// A recording consists of the program, the builder of executions, and the encoder. Encoding is the largest part, nearly
// half. With one encoder thread, a fair scheduler gives it a third of two cores; the other threads then fill their buffers,
// wait for it, and leave a core idle. Frames are independent, so two threads encode them in parallel, but they write them
// in order: the bytes of a trace do not depend on the threads. At most two frames are in flight, so memory stays bounded.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "container.h"
#include "file.h"
#include "frame_codec.h"
#include "tessera/trace/page_set.h"

namespace tessera::trace {

/// A frame being collected: arrays of the largest size, filled from the front.
struct CollectedFrame {
    std::vector<uint32_t> block_ids = std::vector<uint32_t>(max_frame_executions);
    std::vector<uint16_t> access_counts = std::vector<uint16_t>(max_frame_executions);
    std::vector<uint64_t> addresses = std::vector<uint64_t>(max_frame_accesses);
    std::vector<uint8_t> is_store = std::vector<uint8_t>(max_frame_accesses);
    size_t executions = 0, accesses = 0;
    uint64_t instructions = 0;
};

/// What the blocks say, for the encoder and the totals.
struct BlockTable {
    SlotMap slots;
    std::vector<uint8_t> is_kernel;
    bool any_kernel = false;
};

/// What frames add up to, besides their counts.
struct FrameTotals {
    PageSet pages;
    uint64_t stores = 0, kernel_accesses = 0;
};

class FrameEncoder {
public:
    FrameEncoder(File& file, uint64_t offset) : file_(file), offset_(offset) {}
    ~FrameEncoder();

    /// An empty frame to fill. Waits while all are in flight; throws what went wrong with an earlier one.
    CollectedFrame& take();
    /// Encodes the frame taken last and writes it after the previous one. The caller must not touch that frame any more.
    void submit(std::shared_ptr<const BlockTable> blocks);
    /// Returns when nothing is in flight; throws what went wrong there.
    void wait();

    // After wait():
    const std::vector<IndexEntry>& index() const { return index_; }
    uint64_t offset() const { return offset_; }  ///< behind the last frame
    FrameTotals totals() const;

private:
    static constexpr size_t thread_count = 2;

    struct Job {
        CollectedFrame* frame = nullptr;
        std::shared_ptr<const BlockTable> blocks;
        uint64_t number = 0;
    };
    struct Worker {
        EncodeBuffers buffers;
        std::string stored;
        FrameTotals totals;
        std::thread thread;
    };

    void start_thread(Worker& worker);
    void run(Worker& worker);  // its thread
    static IndexEntry encode(Worker& worker, const Job& job);

    File& file_;
    uint64_t offset_;
    std::vector<IndexEntry> index_;
    std::array<Worker, thread_count> workers_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::unique_ptr<CollectedFrame>> frames_;  ///< one more than threads, made as they are needed
    std::vector<CollectedFrame*> free_;
    CollectedFrame* taken_ = nullptr;
    std::deque<Job> submitted_;       ///< not begun
    uint64_t submissions_ = 0, written_ = 0;
    std::exception_ptr error_;
    bool ending_ = false;
};

/// Bytes of `text` as zstd, at the start of `out`, which is only ever grown; returns their number. Throws TraceError.
size_t compress(const std::string& text, std::string& out);

}  // namespace tessera::trace
