// engine.h - the contract of an engine, and the registry of engines.
//
// Contract. An engine replays one stream under a group of layouts on one platform and returns, for each layout
// in the order given, counts that depend on nothing but (stream, platform, layout, plan):
//   - stlb_hits and stlb_misses over the whole stream;
//   - for each unit of the plan its timed part's instructions, accesses, misses, walk cycles and, when
//     has_runtime(), runtime; and references by serving level, summed over the timed parts.
// All engines agree exactly on the counts that they have in common. A new engine is one file that ends with a
// `Registration`, plus one line in CMakeLists.txt.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/platform.h"
#include "engine/dram_rows.h"
#include "engine/sample_plan.h"
#include "engine/stream.h"
#include "mmu/structure_counts.h"
#include "os/layout.h"
#include "tlb/translation.h"

namespace tessera::sim {

struct UnitCounts {
    uint64_t instructions = 0, accesses = 0, stlb_misses = 0, walk_cycles = 0, runtime_cycles = 0;
    bool operator==(const UnitCounts&) const = default;
};

/// What designs beyond the conventional one count; all zero and empty for that one.
struct DesignCounts {
    std::vector<StructureCounts> structures;  ///< whole stream
    uint64_t background_cycles = 0;           ///< B, summed over the timed parts
    std::array<uint64_t, 4> background{};     ///< background loads served by L1D, L2, L3, memory, in the timed parts
    bool operator==(const DesignCounts&) const = default;
};

/// Who makes an access: the program, or the kernel whose work is woven into its stream (weave/woven_stream.h).
enum class Source : uint8_t { program, kernel };

/// What one source counts. H and M, those of the instruction side and the design's structures: in the whole stream; else in the timed parts.
struct Counts {
    uint64_t stlb_hits = 0, stlb_misses = 0;                          ///< data side: H and M
    uint64_t instruction_stlb_hits = 0, instruction_stlb_misses = 0;  ///< 0 where the platform has no l1i
    uint64_t timed_misses = 0, walk_cycles = 0;                       ///< data side: M and C of the timed parts
    uint64_t instruction_walk_cycles = 0;
    std::array<uint64_t, 4> program{}, walker{};  ///< references served by L1D, L2, L3, memory; walker: of data-side walks
    DramCounts rows;  ///< of the clock, where it counts them (CellsRequest::counts_rows)
    DesignCounts design;
    bool operator==(const Counts&) const = default;

    void count(Translation found) {
        stlb_hits += found == Translation::stlb_hit;
        stlb_misses += found == Translation::miss;
    }
    void count_instruction(Translation found) {
        instruction_stlb_hits += found == Translation::stlb_hit;
        instruction_stlb_misses += found == Translation::miss;
    }
    /// What came since `before`, where no timed part had begun.
    Counts& operator-=(const Counts& before) {
        stlb_hits -= before.stlb_hits, stlb_misses -= before.stlb_misses;
        instruction_stlb_hits -= before.instruction_stlb_hits, instruction_stlb_misses -= before.instruction_stlb_misses;
        for (size_t i = 0; i < before.design.structures.size(); ++i) design.structures[i] -= before.design.structures[i];
        return *this;
    }
};

/// A woven page fault in a timed part. Faults lie whole in one part, because they stand before the block that makes them.
struct FaultTime {
    uint64_t fault;   ///< its number in the stream, from 0
    uint64_t cycles;  ///< retirement of its last instruction minus that of the youngest instruction before it, the program's or a fault's
    bool operator==(const FaultTime&) const = default;
};

/// The kernel's work; all zero where none is woven.
struct KernelCounts : Counts {
    uint64_t instructions = 0, loads = 0, stores = 0;  ///< whole stream
    uint64_t cycles = 0;  ///< of R, in the timed parts
    std::vector<FaultTime> faults;  ///< of the timed parts; their cycles sum to `cycles`
    bool operator==(const KernelCounts&) const = default;
};

/// Counts of the program under a layout, and of the kernel.
struct LayoutCounts : Counts {
    std::vector<UnitCounts> units;
    KernelCounts kernel;
    bool operator==(const LayoutCounts&) const = default;
    Counts& of(Source source) { return source == Source::kernel ? kernel : static_cast<Counts&>(*this); }
};

/// A platform under a layout or mapping.
struct Cell {
    const Platform* platform;
    const Layout* layout;
};

struct CellCounts {
    LayoutCounts counts;
    std::optional<Refusal> refusal;  ///< of this cell alone; the counts mean nothing then
};

/// Cells of several platforms over one stream.
struct CellsRequest {
    Stream& stream;
    const SamplePlan& plan;
    std::vector<Cell> cells;
    /// Replays before, without counts: caches, TLBs and predictors then begin as the stream leaves them.
    uint64_t warm_passes = 0;
    /// Called after each frame of each pass with accesses x cells.
    std::function<void(uint64_t)> progress = [](uint64_t) {};
    /// partial and timing, except in a plan without units: engine/weave/table_check.h.
    bool check_tables = false;
    /// Also counts what loads find in the rows of memory (Counts::rows), in engines with R.
    bool counts_rows = false;
};

class Engine {
public:
    virtual ~Engine() = default;
    /// Counts of each cell, in order: those that it has alone. Throws what concerns all of them.
    virtual std::vector<CellCounts> run_cells(const CellsRequest& request) = 0;
    virtual bool has_runtime() const = 0;
    /// Layouts of one platform in one run_cells(), at most.
    virtual size_t most_layouts() const = 0;
};

struct EngineInfo {
    std::string name, sentence;
    std::function<std::unique_ptr<Engine>()> make;
};

/// Throws Refusal for a mapping that changes in a run with warm passes, which would begin after the last change.
void check_epochs(const Layout& layout, uint64_t warm_passes);

/// All engines, sorted by name.
const std::vector<EngineInfo>& engines();
/// Throws Refusal that lists the valid names.
std::unique_ptr<Engine> make_engine(const std::string& name);

/// A duplicate name aborts at start-up.
struct Registration {
    explicit Registration(EngineInfo info);
};

}  // namespace tessera::sim
