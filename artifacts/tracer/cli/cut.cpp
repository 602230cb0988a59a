// cut.cpp - writes a part of a trace as a new trace.
//
// The part begins and ends at block executions: it starts with the first execution whose first access is not before
// `start_access`, and ends with the execution that completes `accesses`. Block table, pools and program stay as they are, so every
// layout of the whole trace fits the part. Of the program's events it has those of its executions, behind the areas that
// exist where it begins.
#include <string>

#include "commands.h"
#include "tessera/trace/areas.h"
#include "tessera/trace/pools.h"

namespace tessera::trace::cli {

namespace {

/// The events of executions [begin, end), counted from `begin`.
Events part_of(const Events& whole, uint64_t begin, uint64_t end) {
    Events part = whole;
    part.list.clear();
    Areas areas;
    for (const Event& event : whole.list) {
        if (event.block <= begin) {
            areas.apply(event);
        } else if (event.block < end) {
            part.list.push_back(event);
            part.list.back().block -= begin;
        }
    }
    const std::vector<Event> start = areas.events();
    part.at_start = start.size();
    part.list.insert(part.list.begin(), start.begin(), start.end());
    return part;
}

}  // namespace

void cut(const std::string& in, const std::string& out, uint64_t start_access, uint64_t accesses) {
    Reader reader = Reader::open(in);
    const uint64_t available = reader.header().accesses;
    if (accesses == 0 || start_access >= available || accesses > available - start_access)
        throw UsageError("cut " + in,
                         "accesses " + std::to_string(start_access) + " to " + std::to_string(start_access + accesses) +
                             " of a trace that has " + std::to_string(available),
                         "choose --start and --accesses inside the trace");
    Writer writer = Writer::create(out);
    for (const StaticBlock& block : reader.blocks()) writer.add_block(block);
    Frame frame;
    uint64_t written = 0, execution = 0, begin = 0, outside = 0;
    while (written < accesses && reader.next(frame)) {
        if (frame.first_access + frame.addresses.size() < start_access) {
            execution += frame.block_ids.size();
            continue;
        }
        size_t at = 0;
        for (size_t e = 0; e < frame.block_ids.size() && written < accesses; ++e, ++execution) {
            const uint16_t count = frame.access_counts[e];
            if (frame.first_access + at >= start_access) {
                if (writer.block_executions() == 0) begin = execution;
                for (uint16_t i = 0; i < count; ++i) outside += !is_in_a_pool(reader.header().pools, frame.addresses[at + i]);
                writer.append(frame.block_ids[e], frame.addresses.data() + at, frame.is_store.data() + at, count);
                written += count;
            }
            at += count;
        }
    }
    if (reader.has_events()) writer.set_events(part_of(reader.events(), begin, begin + writer.block_executions()));
    Header header = reader.header();
    if (header.outside_accesses) header.outside_accesses = outside;
    header.complete_roi = header.complete_roi && written == available;
    header.region = {};  // the windows are those of the whole trace
    writer.finish(header);
}

}  // namespace tessera::trace::cli
