// cut.cpp - writes a part of a trace as a new trace.
//
// The part begins and ends at block executions: it starts with the first execution whose first access is not before
// `start_access`, and ends with the execution that completes `accesses`. Block table, pools and program stay as they are, so every
// layout of the whole trace fits the part.
#include <string>

#include "commands.h"

namespace tessera::trace::cli {

void cut(const std::string& in, const std::string& out, uint64_t start_access, uint64_t accesses) {
    Reader reader = Reader::open(in);
    const uint64_t available = reader.header().accesses;
    if (accesses == 0 || start_access >= available || accesses > available - start_access)
        throw UsageError("cut " + in + ": accesses " + std::to_string(start_access) + " to " + std::to_string(start_access + accesses) +
                         " of a trace that has " + std::to_string(available) + "\n  what to do: choose --start and --accesses inside the trace");
    Writer writer = Writer::create(out);
    for (const StaticBlock& block : reader.blocks()) writer.add_block(block);
    Frame frame;
    uint64_t written = 0;
    while (written < accesses && reader.next(frame)) {
        if (frame.first_access + frame.addresses.size() < start_access) continue;
        size_t at = 0;
        for (size_t e = 0; e < frame.block_ids.size() && written < accesses; ++e) {
            const uint16_t count = frame.access_counts[e];
            if (frame.first_access + at >= start_access) {
                writer.append(frame.block_ids[e], frame.addresses.data() + at, frame.is_store.data() + at, count);
                written += count;
            }
            at += count;
        }
    }
    Header header = reader.header();
    header.complete_roi = header.complete_roi && written == available;
    header.region = {};  // the windows are those of the whole trace
    writer.finish(header);
}

}  // namespace tessera::trace::cli
