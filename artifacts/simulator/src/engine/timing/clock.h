// clock.h - computes time: an out-of-order window for up to 64 layouts, driven by the outcomes of the functional stage.
//
// Contract. Runtime depends on nothing but the outcomes, the program's blocks and the platform; a layout's runtime does
// not depend on which others are in the group. The results are those of engine/reference_core.h, to the cycle, on each
// instruction set. docs/clock.md is the model's text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/platform.h"
#include "engine/dram_rows.h"
#include "engine/functional.h"
#include "engine/outcome.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

namespace timing {
class RedirectLog;
}

class Clock {
public:
    virtual ~Clock() = default;
    /// The pipeline, the queues and memory are empty, the cycle is 0.
    virtual void begin_unit() = 0;
    /// Moves time on by the chunk's executions. pre: `outcomes` is what a functional stage's counted() gave for `chunk`,
    /// with prefetches and fetches in program order, and every prefetch that was asked for, whether or not a lane missed.
    /// Throws Refusal when a walk, or the two of an access that crosses a page, took 2^19 cycles or more (times are kept in 32 bits).
    virtual void run(const Chunk& chunk, const Outcomes& outcomes) = 0;
    /// The program goes on without time, but branch predictors learn (a warm part of the plan).
    virtual void warm(const Chunk& chunk) = 0;
    /// The program goes on unseen: no block follows the last one.
    virtual void skip() = 0;
    /// Cycles of each layout since begin_unit(): the retirement of its youngest instruction.
    virtual void elapsed(uint64_t cycles[max_lanes]) const = 0;
    /// What a layout's loads found in the rows of memory since the clock was made, if it counts_rows and the platform has rows.
    virtual DramCounts rows(unsigned layout) const = 0;
};

/// `isa` is avx512, avx2 or baseline (the caller knows what this processor has), or `one`: a single layout without vectors. `blocks` outlives the clock.
/// redirects: shared by clocks that read each frame one after the other (redirect_log.h); null: the clock has its own.
/// layouts: 1..max_lanes. Throws Refusal on an unknown isa, `one` with more layouts, or a platform whose latencies do not fit 32-bit times.
std::unique_ptr<Clock> make_clock(const Platform& platform, const std::vector<trace::StaticBlock>& blocks, unsigned layouts,
                                  const std::string& isa, timing::RedirectLog* redirects = nullptr, bool counts_rows = false);

}  // namespace tessera::sim
