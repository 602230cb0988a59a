// cell_group.h - cells that go through a frame together, and how a frame's segments are cut into chunks.
#pragma once

#include <vector>

#include "base/woven.h"
#include "engine/crossings.h"
#include "engine/engine.h"
#include "engine/functional.h"

namespace tessera::sim {

class CellGroup {
public:
    virtual ~CellGroup() = default;
    /// Frames in order, with all their segments. False, or Refusal: none of the cells can go on.
    virtual bool frame(const trace::Frame& frame, const std::vector<Segment>& segments) = 0;
    /// Forgets the hits and misses of warm passes; contents stay.
    virtual void begin_counts() = 0;
    /// Of each cell, in the order in which the group got them.
    virtual std::vector<CellCounts> finish() = 0;
};

/// Calls run(chunk) for each chunk of a segment. program_blocks: of `blocks`, those from here on are woven (base/woven.h). A woven chunk has one
/// fault, or a part of one.
template <class Run>
void cut_segment(const trace::Frame& frame, const Segment& s, const std::vector<trace::StaticBlock>& blocks, size_t program_blocks,
                 Crossings& crossings, Run&& run) {
    size_t at = s.begin_access;
    for (size_t e = s.begin_execution; e < s.end_execution;) {
        Chunk chunk{0, frame.addresses.data() + at, frame.is_store.data() + at,
                    0, frame.block_ids.data() + e,  frame.access_counts.data() + e};
        const auto source_of = [&](uint32_t block) { return block >= program_blocks ? Source::kernel : Source::program; };
        chunk.source = source_of(frame.block_ids[e]);
        while (e < s.end_execution && chunk.executions < chunk_executions && chunk.accesses < chunk_accesses && !chunk.ends_fault &&
               source_of(frame.block_ids[e]) == chunk.source) {
            chunk.ends_fault = chunk.source == Source::kernel && ends_fault(blocks[frame.block_ids[e]]);
            chunk.accesses += frame.access_counts[e++];
            ++chunk.executions;
        }
        at += chunk.accesses;
        crossings.find(chunk);
        run(chunk);
    }
}

}  // namespace tessera::sim
