// kernel.h - the imitated kernel of one run: faults, calls of the program, work in the background; it writes the log.
//
// Order of decisions: that of the program. Time is the number of instructions (scenario.h): khugepaged wakes up after each
// scan_sleep_milliseconds, the per-CPU lists are refreshed each second, kcompactd looks at fragmentation each half second, all at the begin of a
// block. kswapd, and kcompactd behind it, work after the access whose fault woke them (background.cpp). A request that finds no memory compacts
// and reclaims at once (vm/slow_path.h); without any way out the run ends: out of memory.
// Place of records: log.h. What is reclaimed or moved stands where it happened; faults of this block stand there, too, from then on.
#pragma once

#include <array>
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

class Kernel final : public Watcher {
public:
    Kernel(const Scenario &scenario, Machine &machine, const Places &places, Writer &log);
    ~Kernel() override;

    /// The fast path: nothing changes.
    bool allows(uint64_t address, bool is_store) const { return rights_.allow(address, is_store); }
    /// An access that the fast path does not allow, with `index` accesses of the block before it; `at`: of the block. Throws Refusal: no area, out of
    /// memory, an empty pool of huge pages.
    void access(At at, uint64_t address, bool is_store, uint64_t index = 0);
    /// A call of the program. Throws Refusal for what is not modelled.
    void call(At at, const trace::Event &event);

    uint64_t next_wake() const { return next_wake_; }
    /// The work of timers that are due.
    void wake(At at, uint64_t instructions);
    /// Writes the areas and counters at the end.
    void finish(At at);

    struct Counts {
        uint64_t faults = 0, calls = 0, ignored_calls = 0, collapses = 0, fallbacks = 0, major = 0, reclaimed_pages = 0, grown_files = 0;
    };
    const Counts &counts() const { return counts_; }

private:
    struct Large {  ///< a 2MB mapping that a call may split
        uint64_t page = 0, frame = 0;
    };
    struct Timer {
        uint64_t period = 0, next = 0;  ///< instructions; period 0: never
        void start(uint64_t instructions) { period = next = std::max<uint64_t>(1, instructions); }
    };

    // Faults (kernel.cpp).
    struct Before;
    Before look(uint64_t page) const;
    fault resolve(uint64_t page, bool write);
    fault attempt(uint64_t page, bool write);
    void touch(At at, uint64_t page, bool write, uint64_t index);
    void record(At at, const fault &found, const Before &before, uint64_t page, bool write);
    void record_around(At at, const Before &before, uint64_t page);
    bool grow_file(uint64_t page);
    void learn(uint64_t page);
    [[noreturn]] void out_of_memory(const std::string &asked) const;
    [[noreturn]] void refuse(const fault &found, uint64_t page, bool write) const;

    // Work in the background (background.cpp).
    void work(At at);
    void scan(At at);
    void aged(uint64_t page, uint64_t pages) override;
    void split(uint64_t page, uint64_t frame) override;
    void reclaimed(uint64_t page, uint64_t pages) override;
    void migrated(uint64_t page, uint64_t frame) override;
    void changed() { changed_block_ = now_.block; }

    // Calls (calls.cpp).
    void map(At at, const trace::Event &event, const Place &place, uint64_t page, uint64_t pages);
    void map_huge(const trace::Event &event, uint64_t page, uint64_t pages, uint32_t flags);
    void unmap(At at, const trace::Event &event, const Place &place, uint64_t page, uint64_t pages);
    void remap(At at, const trace::Event &event, const Place &place, uint64_t page, uint64_t pages);
    void protect(At at, const trace::Event &event, uint64_t page, uint64_t pages);
    void advise(At at, const trace::Event &event, uint64_t page, uint64_t pages);
    void break_up(At at, const trace::Event &event, uint64_t heap, uint64_t heap_end);
    void populate(At at, uint64_t page, uint64_t pages, bool may_write = true);
    void forget(const Place &place, uint64_t page, uint64_t pages);
    void checked(const trace::Event &event, const char *broken) const;
    template <class Work>
    void each_part(const Place &place, uint64_t page, uint64_t pages, Work &&work);

    // Records (records.cpp).
    std::vector<Large> large_at(std::initializer_list<uint64_t> borders) const;
    void log_splits(At at, const std::vector<Large> &large);
    void log_split(At at, const Large &mapping);
    void log_own_split(At at, const Large &mapping);
    void log_unmap(At at, uint64_t page, uint64_t pages, Loss why = Loss::call);
    void log_pages(At at, uint64_t page, uint64_t pages);
    bool log_mapped(At at, uint64_t page, uint64_t stop);
    void put(At at, Record record, uint64_t page);
    std::vector<uint32_t> path(uint64_t page) const;
    std::string where(uint64_t page) const;

    const Scenario &scenario_;
    Machine &machine_;
    ::process *process_;
    const Places &places_;
    Rights rights_;
    Writer &log_;
    Counts counts_;
    Timer scan_, refresh_, compaction_;
    uint64_t next_wake_ = 0;
    At now_;  ///< of what reclaim and compaction do
    bool in_call_ = false;
    uint64_t changed_block_ = ~uint64_t{0};  ///< the last block in which they did something
    std::vector<uint64_t> counters_before_;
    bool has_files_, has_swap_, has_pools_;
};

}  // namespace tessera::os
