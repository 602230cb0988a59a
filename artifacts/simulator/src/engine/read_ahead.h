// read_ahead.h - a stream whose next frame is decoded by a second thread while an engine works on this one.
//
// Decoding (checksum, zstd, deltas) takes about as long as a pass of the partial engine, so it halves such a run's time.
// Keeps Stream's contract: one frame ahead, in order, and a damaged frame is refused by the call of next() that would
// have returned it. rewind() and next() belong to one thread.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "engine/stream.h"

namespace tessera::sim {

class ReadAhead final : public Stream {
public:
    /// `source` outlives this object, which is its only user.
    explicit ReadAhead(Stream& source) : source_(source) {}
    ~ReadAhead() override { stop(); }
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    const trace::Header& header() const override { return source_.header(); }
    const std::vector<trace::StaticBlock>& blocks() const override { return source_.blocks(); }
    void rewind() override;
    bool next(trace::Frame& out) override;

private:
    void decode();
    void stop();

    Stream& source_;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable changed_;
    trace::Frame ahead_;               // the decoder's while !ready_, the reader's while ready_
    std::exception_ptr failure_;
    bool ready_ = false, end_ = false, stopping_ = false;
};

}  // namespace tessera::sim
