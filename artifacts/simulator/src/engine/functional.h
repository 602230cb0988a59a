// functional.h - the functional stage: computes hits and misses for up to 64 layouts, in program order.
//
// TLBs, walk caches and data caches change in program order and do not depend on time. A driver (engine/replay.h) cuts the
// stream into chunks and calls one of the three methods for each, in order; the clock reads the outcomes.
// Contract. The result for a chunk depends only on the platform, the layouts and the chunks before it:
//   tlb_only  updates the TLBs and the ITLB; walk caches, data caches and prefetchers do not change;
//   warm      updates everything;
//   counted   as warm, and also counts walk cycles and loads; fills `out` if it is not null.
// All three count H and M (and those of the instruction side). There are two stages: engine/lanes (conventional designs, all
// layouts in one pass) and engine/any_design (any design, one layout at a time). Both give the same results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/platform.h"
#include "engine/engine.h"
#include "engine/outcome.h"
#include "os/layout.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {
namespace any_design {
class EventLog;
}

/// Consecutive whole block executions. accesses <= chunk_capacity, executions <= chunk_executions: a chunk ends
/// at the first execution that brings it to chunk_accesses.
struct Chunk {
    size_t accesses;
    const uint64_t* addresses;      ///< virtual
    const uint8_t* is_store;
    size_t executions;
    const uint32_t* block_ids;      ///< of each execution
    const uint16_t* access_counts;  ///< accesses of each execution; they sum to `accesses`
    Source source = Source::program;  ///< of all of its executions
    bool ends_fault = false;          ///< the kernel's, and the last execution is the end of a fault
    size_t crossings = 0;
    const uint32_t* crossing = nullptr;  ///< accesses that cross a 4KB page, ascending (engine/crossings.h)
};

/// What the counts of a unit are differences of.
struct UnitSoFar {
    uint64_t misses, walk_cycles;
};

class Functional {
public:
    virtual ~Functional() = default;
    virtual void tlb_only(const Chunk& chunk) = 0;
    virtual void warm(const Chunk& chunk) = 0;
    /// `out` null: counts only. What `out` points to afterwards is valid until the next call.
    virtual void counted(const Chunk& chunk, Outcomes* out) = 0;
    /// H and M of a design here depend on the contents of data caches: tlb_only() throws Refusal.
    virtual bool needs_caches() const { return false; }
    /// Of the program since the stage was made, for each layout in the order of the context.
    virtual std::vector<Counts> counts() = 0;
    /// The same of the kernel. Empty: the stage cannot have any woven chunks.
    virtual std::vector<Counts> kernel_counts() { return {}; }
    /// Two of these counts, at the begin and the end of each unit: no structures are copied for them.
    virtual std::vector<UnitSoFar> so_far() {
        std::vector<UnitSoFar> all;
        for (const Counts& of_layout : counts()) all.push_back({of_layout.timed_misses, of_layout.walk_cycles});
        return all;
    }
};

/// The inputs of a stage; all of them outlive the stage.
struct FunctionalContext {
    const Platform& platform;
    const std::vector<trace::Pool>& pools;
    const std::vector<trace::StaticBlock>& blocks;
    const std::vector<const Layout*>& layouts;  ///< 1..max_lanes
    bool check_tables = false;                  ///< of woven faults (engine/weave/table_check.h); layouts are logs
};

/// The reason why engine/lanes cannot simulate this platform ("mmu.design = rmm"), or an empty string.
std::string lanes_lack(const Platform& platform);
/// The stage of make_lane_functional() gives the same on both platforms, so clocks of both can read one stage: they differ in what only time
/// depends on. pre: lanes_lack() of both is empty.
bool same_on_lanes(const Platform& a, const Platform& b);
/// pre: lanes_lack(platform) is empty.
std::unique_ptr<Functional> make_lane_functional(const FunctionalContext& context);
/// True where physical lines may differ between layouts and time depends on them: such platforms run with one layout a
/// stage when `counted` gets an `out`.
bool needs_one_lane(const Platform& platform);
/// What a stage of a design that needs caches throws where a plan skips accesses.
Refusal skipped_accesses(const std::string& design);
/// Any platform. Throws Refusal where a component does not exist. events: shared by stages that read each frame one after
/// the other (engine/any_design/event_log.h); null: the stage has its own.
std::unique_ptr<Functional> make_any_design_functional(const FunctionalContext& context, any_design::EventLog* events = nullptr);

}  // namespace tessera::sim
