// kernel.h - the imitated kernel of one run: faults, calls of the program, khugepaged; it writes the log.
//
// Order of decisions: that of the program. Time is the number of instructions (scenario.h): khugepaged wakes up after each
// scan_sleep_milliseconds, the per-CPU lists are refreshed each second, both at the begin of a block. A raised watermark goes back after the
// fault that raised it: kswapd has passed.
// A request for 2MB that asks for compaction falls back to 4KB; one for 4KB that asks for reclaim ends the run: neither is modelled.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "driver/machine.h"
#include "driver/rights.h"
#include "tessera/os/log.h"
#include "tessera/trace/trace.h"

namespace tessera::os {

/// A place in the stream: executions of blocks, and data accesses, before a block.
struct At {
    uint64_t block = 0, access = 0;
};

class Kernel {
public:
    Kernel(const Scenario& scenario, Machine& machine, const std::vector<trace::Pool>& pools, Writer& log);

    /// The fast path: nothing changes.
    bool allows(uint64_t address, bool is_store) const { return rights_.allow(address, is_store); }
    /// An access that the fast path does not allow. Throws Refusal: no area, out of memory.
    void access(At at, uint64_t address, bool is_store);
    /// A call of the program. Throws Refusal for what is not modelled.
    void call(At at, const trace::Event& event);

    uint64_t next_wake() const { return next_wake_; }
    /// The work of timers that are due.
    void wake(At at, uint64_t instructions);
    /// Writes the areas at the end.
    void finish(At at);

    struct Counts {
        uint64_t faults = 0, calls = 0, ignored_calls = 0, collapses = 0, fallbacks = 0;
    };
    const Counts& counts() const { return counts_; }

private:
    struct Place {
        uint64_t first_page = 0, pages = 0;
        uint8_t kind = 0;
    };
    struct Large {  ///< a 2MB mapping that a call may split
        uint64_t page = 0, frame = 0;
    };

    const Place& pool_of(uint64_t page) const;
    Place place_of(trace::EventPool pool, const trace::Event& event) const;
    fault resolve(At at, uint64_t page, bool write);
    void touch(At at, uint64_t page, bool write);
    void learn(uint64_t page);
    void populate(At at, uint64_t page, uint64_t pages, bool may_write = true);
    void scan(At at);

    void map(At at, const trace::Event& event, uint64_t page, uint64_t pages);
    void remap(At at, const trace::Event& event, uint64_t page, uint64_t pages);
    void advise(At at, const trace::Event& event, uint64_t page, uint64_t pages);
    void break_up(At at, const trace::Event& event, uint64_t heap, uint64_t heap_end);
    void checked(const trace::Event& event, const char* broken) const;

    std::vector<Large> large_at(std::initializer_list<uint64_t> borders) const;
    void log_splits(At at, const std::vector<Large>& large);
    void log_unmap(At at, uint64_t page, uint64_t pages);
    void log_pages(At at, uint64_t page, uint64_t pages);
    bool log_mapped(At at, uint64_t page, uint64_t stop);
    void put(At at, Record record, uint64_t page);
    std::vector<uint32_t> path(uint64_t page) const;

    const Scenario& scenario_;
    Machine& machine_;
    ::process* process_;
    std::vector<Place> pools_;
    Rights rights_;
    Writer& log_;
    Counts counts_;
    uint64_t next_scan_, next_refresh_, next_wake_;
};

}  // namespace tessera::os
