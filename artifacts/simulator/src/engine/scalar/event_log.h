// event_log.h - events of the chunks of one frame, kept for the stages that read the same frame one after the other.
//
// The first stage computes them (chunk_events.h), the others read them again: every layout has the same.
#pragma once

#include <deque>
#include <stdexcept>

#include "engine/scalar/chunk_events.h"

namespace tessera::sim::scalar {

class EventLog {
public:
    EventLog(const Platform& platform, const std::vector<trace::StaticBlock>& blocks) : reader_(platform, blocks) {}

    /// Forgets all chunks: those that follow are new.
    void begin_frame() { known_ = at_ = 0; }
    /// Another stage begins with the first chunk of the frame.
    void rewind() { at_ = 0; }

    /// Of the chunk at hand, which is the same in all stages. Throws std::logic_error if it is not.
    const ChunkEvents& next(const Chunk& chunk, bool prefetch) {
        if (at_ == known_) {
            if (known_ == entries_.size()) entries_.emplace_back();
            Entry& fresh = entries_[known_];
            fresh.addresses = chunk.addresses;
            fresh.accesses = chunk.accesses;
            reader_.read(chunk, prefetch, fresh.events);
            ++known_;  // not if it refused an address
        }
        const Entry& entry = entries_[at_++];
        if (entry.addresses != chunk.addresses || entry.accesses != chunk.accesses)
            throw std::logic_error("stages that share an event log read different chunks");
        return entry.events;
    }

private:
    struct Entry {
        const uint64_t* addresses = nullptr;
        size_t accesses = 0;
        ChunkEvents events;
    };
    EventReader reader_;
    std::deque<Entry> entries_;  ///< of earlier frames beyond known_, for their memory
    size_t known_ = 0, at_ = 0;
};

}  // namespace tessera::sim::scalar
