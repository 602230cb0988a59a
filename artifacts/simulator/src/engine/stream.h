// stream.h - the source of an engine's frames: a trace file, or memory in tests and benchmarks.
//
// Contract: header() and blocks() never change; rewind() makes next() start over with the same frames; next()
// returns false at the end. Engines call rewind() themselves. Not thread safe.
#pragma once

#include <utility>

#include "tessera/trace/trace.h"

namespace tessera::sim {

class Stream {
public:
    virtual ~Stream() = default;
    virtual const trace::Header& header() const = 0;
    virtual const std::vector<trace::StaticBlock>& blocks() const = 0;
    virtual void rewind() = 0;
    virtual bool next(trace::Frame& out) = 0;
};

class FileStream final : public Stream {
public:
    /// Throws TraceError.
    explicit FileStream(const std::string& path) : reader_(trace::Reader::open(path)) {}
    const trace::Header& header() const override { return reader_.header(); }
    const std::vector<trace::StaticBlock>& blocks() const override { return reader_.blocks(); }
    void rewind() override {
        if (reader_.frame_count() > 0) reader_.seek(0);
    }
    bool next(trace::Frame& out) override { return reader_.next(out); }

private:
    trace::Reader reader_;
};

class MemoryStream final : public Stream {
public:
    MemoryStream(trace::Header header, std::vector<trace::StaticBlock> blocks, std::vector<trace::Frame> frames)
        : header_(std::move(header)), blocks_(std::move(blocks)), frames_(std::move(frames)) {}
    const trace::Header& header() const override { return header_; }
    const std::vector<trace::StaticBlock>& blocks() const override { return blocks_; }
    const std::vector<trace::Frame>& frames() const { return frames_; }
    void rewind() override { at_ = 0; }
    bool next(trace::Frame& out) override {
        if (at_ == frames_.size()) return false;
        out = frames_[at_++];
        return true;
    }

private:
    trace::Header header_;
    std::vector<trace::StaticBlock> blocks_;
    std::vector<trace::Frame> frames_;
    size_t at_ = 0;
};

}  // namespace tessera::sim
