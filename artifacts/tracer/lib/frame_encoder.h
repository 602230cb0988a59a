// frame_encoder.h - encodes a frame in a thread of its own while the writer collects the next one.
//
// Building executions and encoding them cost about the same, so a recording (the program, the builder, this) fills
// three cores, and two are never idle for want of work. One frame is in flight: memory stays bounded and frames stay in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "container.h"
#include "file.h"
#include "frame_codec.h"
#include "page_set.h"

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

class FrameEncoder {
public:
    FrameEncoder(File& file, uint64_t offset) : file_(file), offset_(offset) {}
    ~FrameEncoder();

    /// Encodes `frame` and writes it behind the one before. The caller leaves `frame` and `blocks` alone until wait() has
    /// returned; it must be called first if a frame is in flight.
    void submit(CollectedFrame& frame, const BlockTable& blocks);
    /// Returns when nothing is in flight; throws what went wrong there.
    void wait();

    // After wait():
    const std::vector<IndexEntry>& index() const { return index_; }
    const PageSet& pages() const { return pages_; }
    uint64_t offset() const { return offset_; }                    ///< behind the last frame
    uint64_t stores() const { return stores_; }
    uint64_t kernel_accesses() const { return kernel_accesses_; }

private:
    void run();  // the thread
    void encode(const CollectedFrame& frame, const BlockTable& blocks);

    File& file_;
    uint64_t offset_;
    std::vector<IndexEntry> index_;
    PageSet pages_;
    uint64_t stores_ = 0, kernel_accesses_ = 0;
    EncodeBuffers buffers_;
    std::string stored_;

    std::mutex mutex_;
    std::condition_variable changed_;
    CollectedFrame* frame_ = nullptr;  ///< in flight
    const BlockTable* blocks_ = nullptr;
    std::exception_ptr error_;
    bool ending_ = false;
    std::thread thread_;
};

/// Bytes of `text` as zstd, at the start of `out`, which is only ever grown; returns their number. Throws TraceError.
size_t compress(const std::string& text, std::string& out);

}  // namespace tessera::trace
