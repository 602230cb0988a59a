// frame_log.h - what the first of several readers of a frame computes for each chunk, kept for the others, which read the same chunks after it.
#pragma once

#include <cstddef>
#include <deque>

namespace tessera::sim {

template <class Entry>
class FrameLog {
public:
    /// Forgets all chunks: those that follow are new.
    void begin_frame() { known_ = at_ = 0; }
    /// Another reader begins with the first chunk of the frame.
    void rewind() { at_ = 0; }

protected:
    /// No reader has seen the chunk at hand.
    bool is_new() const { return at_ == known_; }
    /// Of the chunk at hand: make(entry) fills it if it is new. The entry has what an earlier frame left there.
    template <class Make>
    const Entry& next(Make&& make) {
        if (is_new()) {
            if (known_ == entries_.size()) entries_.emplace_back();
            make(entries_[known_]);
            ++known_;  // not if make() threw
        }
        return entries_[at_++];
    }

private:
    std::deque<Entry> entries_;  ///< of earlier frames beyond known_, for their memory
    size_t known_ = 0, at_ = 0;
};

}  // namespace tessera::sim
