// tlb_group.h - H and M of several designs under one layout or mapping, without data caches (--sampling tlbs).
//
// The designs share the pages of the process, the events of chunks and, where they can, the L1 DTLB: a first level of the platform
// sees the same pages in the same order whatever is behind it (mmu/shared_l1.h). So it is looked up once for all designs with
// equal keys tlb.l1d.* and equal page sizes. What it lets through is written down for a chunk (its misses, code pages, first
// touches). Each design goes through the misses between two other events in one call (BehindSharedL1::missed_l1). A design with another
// first level sees every access, as in layout_stage.h.
//
// Where an epoch of the mapping begins, the chunk is cut: all designs come to that access, then the pages change, then L1 and
// the designs forget the range. So each design's H and M are those that it has alone.
//
// A design that refuses (a page without a frame, too many segments) fails alone. If a page has no frame, the designs behind an L1 of
// the mapping's pages fail together. Behind an L1 of 4KB pages, those fail that ask for the frame or chunk.
#pragma once

#include <map>

#include "engine/cell_group.h"
#include "engine/crossings.h"
#include "engine/epoch_cursor.h"
#include "engine/any_design/event_log.h"
#include "mmu/design.h"
#include "mmu/shared_l1.h"
#include "os/address_space.h"
#include "tlb/levels.h"

namespace tessera::sim::any_design {

/// What else the designs behind an L1 must see, in program order: a code page that missed the L1 ITLB, or a first touch.
struct OtherEvent {
    enum class Kind : uint8_t { fetch, touch };
    Kind kind;
    VirtAddr address;
    size_t misses_before;  ///< of this L1 in the part
    size_t access;         ///< the one at hand
};

class TlbGroup final : public CellGroup {
public:
    /// The log's events are those of all platforms added here. What the constructor gets outlives the group.
    TlbGroup(const Stream& stream, const Layout& layout, EventLog& log);

    /// Throws Refusal; the group is then as before.
    void add(const Platform& platform);

    bool frame(const trace::Frame& frame, const std::vector<Segment>& segments) override;
    void begin_counts() override;
    std::vector<CellCounts> finish() override;

private:
    struct Member {
        const Platform* platform;
        std::unique_ptr<Design> design;
        BehindSharedL1* behind = nullptr;  ///< of the design; null: it sees every access
        LayoutCounts counts;
        Counts before;  ///< of the program, in warm passes
        std::optional<Refusal> refusal;
    };
    struct SharedL1 {
        SharedL1(const Platform& platform, L1Pages pages) : first(platform), pages(pages) {}
        FirstLevel first;
        L1Pages pages;
        bool needs_chunks = false, needs_accesses = false;  ///< one of its designs does
        std::vector<size_t> members;
        std::vector<L1Miss> misses;           ///< of the part of a chunk at hand
        std::vector<uint32_t> miss_accesses;  ///< of each: its access within the chunk, for messages
        std::vector<Access> accesses;         ///< of each, if one of its designs needs them
        std::vector<OtherEvent> others;
    };
    /// Accesses of a chunk from one change of the mapping to the next, and the fetches that come before the change.
    struct Part {
        const Chunk& chunk;
        const ChunkEvents& events;
        size_t begin_access, end_access, begin_fetch, end_fetch;
    };

    void run(const Chunk& chunk);
    void run_woven(const Part& part);
    void run_part(const Part& part);
    std::optional<Refusal> look_up(SharedL1& l1, const Part& part);
    void replay(Member& member, const SharedL1& l1);
    const PageChunk* chunks() const;
    void run_alone(Member& member, const Part& part);
    void change(size_t access);
    template <class Work>
    void guarded(Member& member, const size_t& access, Work&& work);
    template <class Fetched, class Accessed, class Crossed>
    void walk(const Part& part, size_t& access, Fetched&& fetched, Accessed&& accessed, Crossed&& crossed) const;

    AddressSpace space_;
    EpochCursor epochs_{space_.mapping()};  ///< before the chunk at hand
    EventLog& log_;
    const std::vector<trace::StaticBlock>& blocks_;
    Crossings crossings_{blocks_};
    size_t program_blocks_;
    std::vector<uint32_t> instruction_counts_;  ///< of each block
    std::optional<PageSize> direct_map_;        ///< of all platforms; none: nothing is woven, or there are none yet
    std::vector<std::unique_ptr<Member>> members_;
    std::map<std::string, std::unique_ptr<SharedL1>> l1s_;
    std::vector<uint32_t> rows_of_accesses_;  ///< of the part: rows of the mapping that one L1 needed, so that others need no search
    std::vector<size_t> fetch_places_;  ///< of each fetch of the chunk: the access that it comes before
    Source source_ = Source::program;   ///< of the chunk at hand
};

}  // namespace tessera::sim::any_design
