// recorder.h - the sink of the imitated memory (base/events.h): changes of the program's pages and areas become records of the log, and rights
// of the fast path.
//
// Place of records: log.h. A fault and what it splits stand before its block, unless memory was reclaimed or moved in this block before: then
// they stand before its own access. What is reclaimed or moved stands where it happened.
// Rights: a fault, and an access that the processor allows, give a page what its entry allows (learn); who takes young bits or pages takes them
// away. A call that changes rights or moves pages takes them, too (rights()).
#pragma once

#include <string>
#include <vector>

#include "driver/machine.h"
#include "driver/places.h"
#include "driver/rights.h"
#include "tessera/os/log.h"
#include "tessera/trace/trace.h"

namespace tessera::os {

/// A place in the stream: executions of blocks, and data accesses.
struct At {
    uint64_t block = 0, access = 0;
};

class Recorder {
public:
    struct Counts {
        uint64_t faults = 0, collapses = 0, fallbacks = 0, major = 0, reclaimed_pages = 0;
    };

    /// It is the machine's sink as long as it lives.
    Recorder(Machine &machine, const Places &places, Writer &log);
    ~Recorder();
    Recorder(const Recorder &) = delete;

    Rights &rights() { return rights_; }
    const Rights &rights() const { return rights_; }
    const Counts &counts() const { return counts_; }
    /// "block N, pool NAME, page N", for messages.
    std::string where(uint64_t page) const;

    /// From now on, work of timers, calls and kswapd stands at this place.
    void stand(At at) { block_ = now_ = at; }
    /// The fault of an access at `now`; `block`: before its block.
    void begin_fault(At block, At now, uint64_t page);
    void end_fault(const fault &found, uint64_t page, bool write);

    void begin_call(trace::EventKind kind, uint64_t page, uint64_t pages);
    void end_call(trace::EventKind kind, uint64_t page, uint64_t pages);
    /// By a call: nothing is mapped in the range.
    void unmapped(uint64_t page, uint64_t pages) { lose(now_, page, pages, Loss::call); }
    /// Between these two, mremap moves a range; then its pages are told at their new place.
    void begin_move(uint64_t page, uint64_t pages) { moving_ = page, moving_pages_ = pages; }
    void end_move(uint64_t to, uint64_t pages);

    /// The areas and counters at the end.
    void finish(At at);

private:
    static constexpr uint64_t none = ~uint64_t{0};

    void entry(const pt_change &change);
    void area(const area_change &change);
    void split(const pt_change &change);
    void reclaimed(const pt_change &change);
    void placed(const pt_change &change);
    void learn(uint64_t page);
    void lose(At at, uint64_t page, uint64_t pages, Loss why);
    void put_source(At at, const fault &found, uint64_t page);
    void put_around(At at);
    void put_areas(At at);
    bool put_mapped(uint64_t page, uint64_t stop);
    void put(At at, Record record, uint64_t page);
    void flush();
    void changed() { changed_block_ = now_.block; }
    At place() const { return changed_block_ == block_.block ? now_ : block_; }
    pt_entry entry_at(uint64_t page, unsigned &level) const;
    std::vector<uint32_t> path(uint64_t page) const;

    Machine &machine_;
    const ::process &process_;
    const Places &places_;
    Writer &log_;
    Rights rights_;
    Counts counts_;
    std::vector<uint64_t> counters_before_;
    At block_, now_;
    uint64_t changed_block_ = none;  ///< the last block in which reclaim or compaction did something

    struct Faulting {
        uint64_t page = 0, first = 0;
        uint32_t swapped = 0, first_frame = 0;  ///< entries that came from swap, the first one and its frame
        pt_entry old = 0;  ///< of the page, before its last change
        std::vector<uint64_t> around;  ///< pages that fault-around mapped
    } fault_;
    uint64_t moving_ = 0, moving_pages_ = 0;
    uint64_t split_ = none;  ///< first page of the 2MB mapping that reclaim has just split
    Record run_;  ///< its pages that are gone, or pages that the policy placed: written when something else follows
    uint64_t run_page_ = 0;  ///< no record: run_.pages is 0
};

}  // namespace tessera::os
