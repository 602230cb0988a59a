// group.h - the layouts of a pass: the boundary between plain code and the code of one instruction set.
#pragma once

#include "engine/timing/batch.h"

namespace tessera::sim::timing {

class ClockGroup {
public:
    virtual ~ClockGroup() = default;
    virtual void begin_unit() = 0;
    /// Replays the batch. False when a walk took walk_bound_cycles or more.
    virtual bool run(const Batch& batch) = 0;
    virtual void elapsed(uint64_t cycles[max_lanes]) const = 0;
    /// Loads since the group was made, [lane][row_counters]; null: they are not counted.
    virtual const uint64_t* rows() const = 0;
};

/// Bytes of zeroed memory, aligned to 64, that a group needs; the group does not own it.
size_t group_memory_bytes(const ClockConfig& config, unsigned lanes);

/// For one layout: numbers instead of vectors.
ClockGroup* make_group_one(const ClockConfig& config, unsigned parts, void* memory);
/// For 16 x parts layouts, parts from 1 to 4.
ClockGroup* make_group_avx512(const ClockConfig& config, unsigned parts, void* memory);
ClockGroup* make_group_avx2(const ClockConfig& config, unsigned parts, void* memory);
ClockGroup* make_group_baseline(const ClockConfig& config, unsigned parts, void* memory);

}  // namespace tessera::sim::timing
