// event_log.h - events of the chunks of one frame, kept for the stages that read the same frame one after the other.
//
// The first stage computes them (chunk_events.h), the others read them again: every layout has the same.
#pragma once

#include <stdexcept>

#include "engine/frame_log.h"
#include "engine/any_design/chunk_events.h"

namespace tessera::sim::any_design {

struct LoggedEvents {
    const uint64_t* addresses = nullptr;
    size_t accesses = 0;
    ChunkEvents events;
};

class EventLog : public FrameLog<LoggedEvents> {
public:
    EventLog(const Platform& platform, const std::vector<trace::StaticBlock>& blocks) : reader_(platform, blocks) {}

    /// Of the chunk at hand, which is the same in all stages. Throws std::logic_error if it is not.
    const ChunkEvents& next(const Chunk& chunk, bool prefetch) {
        const LoggedEvents& entry = FrameLog::next([&](LoggedEvents& fresh) {
            fresh.addresses = chunk.addresses;
            fresh.accesses = chunk.accesses;
            reader_.read(chunk, prefetch, fresh.events);
        });
        if (entry.addresses != chunk.addresses || entry.accesses != chunk.accesses)
            throw std::logic_error("stages that share an event log read different chunks");
        return entry.events;
    }

private:
    EventReader reader_;
};

}  // namespace tessera::sim::any_design
