#include "driver/counters.h"

#include "driver/machine.h"

namespace tessera::os {
namespace {

struct Counter {
    const char *name;
    uint64_t (*value)(const Machine &);
    bool is_level = false;  ///< a state; the others count from the begin of the program on
};

uint64_t slabs_of(const Machine &m) {
    uint64_t sum = 0;
    for (int i = 0; m.slabs() != nullptr && i < SLAB_MAPLE_NODE; ++i)
        sum += m.slabs()->cache[i].counts.new_slabs - m.slabs()->cache[i].counts.freed_slabs;
    return sum;
}

#define FROM(name, part) {#name, [](const Machine &m) -> uint64_t { return m.part; }}
#define LEVEL(name, part) {#name, [](const Machine &m) -> uint64_t { return m.part; }, true}
const Counter counters[] = {
    {"pgfault", nullptr},
    FROM(pgmajfault, system.counts.pgmajfault),
    FROM(pswpin, system.swap.counts.pswpin),
    FROM(pswpout, system.swap.counts.pswpout),
    FROM(swap_ra, system.swap.counts.swap_ra),
    FROM(swap_ra_hit, system.swap.counts.swap_ra_hit),
    FROM(allocstall, system.reclaim.counts.allocstall),
    FROM(pageoutrun, system.reclaim.counts.pageoutrun),
    FROM(pgscan_kswapd, system.reclaim.counts.pgscan_kswapd),
    FROM(pgscan_direct, system.reclaim.counts.pgscan_direct),
    FROM(pgsteal_kswapd, system.reclaim.counts.pgsteal_kswapd),
    FROM(pgsteal_direct, system.reclaim.counts.pgsteal_direct),
    FROM(pgsteal_anon, system.reclaim.counts.pgsteal[0]),
    FROM(pgsteal_file, system.reclaim.counts.pgsteal[1]),
    FROM(pgrefill, system.reclaim.counts.pgrefill),
    FROM(pgactivate, system.lru.counts.pgactivate),
    FROM(pgdeactivate, system.lru.counts.pgdeactivate),
    FROM(workingset_refault_anon, system.lru.counts.workingset_refault[0]),
    FROM(workingset_refault_file, system.lru.counts.workingset_refault[1]),
    FROM(compact_stall, system.compact.counts.stall),
    FROM(compact_success, system.compact.counts.success),
    FROM(compact_fail, system.compact.counts.fail),
    FROM(compact_daemon_wake, system.compact.counts.daemon_wake),
    FROM(pgmigrate_success, system.compact.counts.pgmigrate_success),
    FROM(pgmigrate_fail, system.compact.counts.pgmigrate_fail),
    FROM(thp_fault_alloc, system.counts.thp_fault_alloc),
    FROM(thp_fault_fallback, system.counts.thp_fault_fallback),
    FROM(thp_collapse_alloc, system.counts.thp_collapse_alloc),
    FROM(thp_collapse_alloc_failed, system.counts.thp_collapse_alloc_failed),
    FROM(thp_split_page, system.counts.thp_split_page),
    FROM(thp_split_pmd, system.counts.thp_split_pmd),
    FROM(thp_zero_page_alloc, system.counts.thp_zero_page_alloc),
    FROM(thp_swpout, system.counts.thp_swpout),
    FROM(thp_swpout_fallback, system.counts.thp_swpout_fallback),
    FROM(file_pages_read, system.files.counts.pages_read),
    FROM(file_requests, system.files.counts.requests),
    LEVEL(swap_slots_used, system.swap.in_use),
    LEVEL(hugetlb_2mb_free, system.hugetlb.pool[HUGETLB_2MB].count),
    LEVEL(hugetlb_1gb_free, system.hugetlb.pool[HUGETLB_1GB].count),
    {"slabs", slabs_of, true},
    {"slab_refused", [](const Machine &m) -> uint64_t { return m.slabs() ? m.slabs()->failed : 0; }},
    FROM(disk_reads, disk().reads),
    FROM(disk_writes, disk().writes),
    FROM(disk_read_bytes, disk().read_bytes),
    FROM(disk_written_bytes, disk().written_bytes),
    FROM(disk_read_ns, disk().read_ns),
    FROM(disk_write_ns, disk().write_ns),
};
#undef FROM
#undef LEVEL

}  // namespace

const std::vector<std::string> &counter_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> found;
        for (const Counter &counter : counters) found.emplace_back(counter.name);
        return found;
    }();
    return names;
}

std::vector<uint64_t> counters_of(const Machine &machine, uint64_t faults, const std::vector<uint64_t> &before) {
    std::vector<uint64_t> found;
    for (const Counter &counter : counters) {
        const uint64_t value = counter.value ? counter.value(machine) : faults;
        found.push_back(counter.is_level || before.empty() ? value : value - before[found.size()]);
    }
    return found;
}

}  // namespace tessera::os
