#include "engine/timing/config.h"

#include <algorithm>

#include "base/error.h"
#include "base/platform.h"
#include "cache/memory_node.h"
#include "engine/dram.h"

namespace tessera::sim::timing {
namespace {

/// Instructions, accesses and fetches between two moves of the origin.
///
/// All times stay below 2^32 because (1) what is complete when an instruction is dispatched was due at most a queue of prefetches
/// or write-backs later, (2) what is not complete are at most rob_entries results and load_queue + store_buffer accesses, (3) each step makes
/// the latest time at most `growth` later, prefetches included: those of one access do not wait for one another's end.
uint32_t rebase_interval(const Platform& p, const ClockConfig& c, uint64_t exception_cycles) {
    const uint64_t slowest_latency =
        std::max({p.latency.alu, p.latency.multiply, p.latency.divide, p.latency.fp_add, p.latency.fp_multiply, p.latency.fp_divide});
    const uint64_t slowest_load =
        std::max({c.l1d_load_cycles, c.l2_load_cycles, c.l3_load_cycles, c.row_conflict_cycles, c.table_row_conflict_cycles});
    const uint64_t slot = std::max(c.transfer_cycles, c.table_transfer_cycles) + c.bank_busy_cycles;
    // Each load of a walk that waits in memory's queues has table_load_cycles of the walk's cycles, so that their number is bounded.
    const uint64_t queued_walk =
        p.dram_queues_walks == 0 ? 0 : walk_bound_cycles / c.table_load_cycles * (slot + p.dram.row_conflict_adds_cycles);
    const uint64_t front_end = exception_cycles + c.refill_cycles + p.call_cycles + p.string.begin_cycles + p.string.page_cycles / 64 + 1 +
                               c.alu_cycles + c.forward_cycles,
                   ports = 3;
    const uint64_t growth =
        front_end + ports + queued_walk + c.stlb_hit_cycles + walk_bound_cycles + slot + 3 * slowest_load + slowest_latency + 2;
    const uint64_t write_back = p.write_backs != 0 ? slot : 0;  // of a store
    const uint64_t queued = uint64_t{(p.write_backs != 0 ? c.write_queue_lines : c.prefetch_queue_lines) + 1} *
                                std::max({c.transfer_cycles, c.table_transfer_cycles, c.bank_busy_cycles}) +
                            2 * slowest_load;
    const uint64_t in_flight = c.rob_entries * (slowest_latency + 1) + (c.load_queue_entries + c.store_buffer_entries) * growth +
                               c.store_buffer_entries * write_back;
    const uint64_t room = (uint64_t{1} << 32) - 1, least = 64, most = 2048;
    if (queued + in_flight + least * (growth + write_back) > room)
        throw Refusal("a platform whose times fit in 32 bits", "up to " + std::to_string(queued + in_flight) + " cycles in flight at once",
                      "lower memory.load_cycles, memory.cycles_per_line x dram.channels, or the load queue and store buffer");
    return uint32_t(std::min(most, (room - queued - in_flight) / (growth + write_back)));
}

}  // namespace

ClockConfig clock_config(const Platform& p, bool weaves, bool counts_rows) {
    ClockConfig c{};
    c.dispatch_width = uint32_t(p.dispatch_width);
    c.rob_entries = uint32_t(p.rob_entries);
    c.load_queue_entries = uint32_t(p.load_queue_entries);
    c.store_buffer_entries = uint32_t(p.store_buffer_entries);
    c.mshrs = uint32_t(p.mshrs);
    c.walkers = uint32_t(p.walkers);
    c.overlap = p.overlap != 0;
    c.walker_uses_mshrs = p.walker_uses_mshrs != 0;
    c.walker_serves_background = p.walker_serves_background != 0;
    c.stlb_hit_cycles = uint32_t(p.stlb_hit_cycles);
    c.l1d_load_cycles = uint32_t(p.l1d.load_cycles);
    c.l2_load_cycles = uint32_t(p.l2.load_cycles);
    c.l3_load_cycles = uint32_t(p.l3.load_cycles);
    const MemoryNode data = data_memory(p), tables = table_memory(p);
    c.memory_load_cycles = uint32_t(data.load_cycles);
    c.channels = uint32_t(std::max<uint64_t>(p.dram.channels, 1));
    c.transfer_cycles = uint32_t(data.cycles_per_line) * c.channels;
    c.banks = uint32_t(p.dram.channels * p.dram.banks);
    c.bank_busy_cycles = uint32_t(p.dram.bank_busy_cycles);
    c.row_hit_cycles = uint32_t(data.load_cycles - p.dram.row_hit_saves_cycles);
    c.row_conflict_cycles = uint32_t(data.load_cycles + p.dram.row_conflict_adds_cycles);
    c.tables_apart = tables_apart(p);
    c.table_load_cycles = uint32_t(tables.load_cycles);
    c.table_transfer_cycles = uint32_t(tables.cycles_per_line) * c.channels;
    c.table_row_hit_cycles = uint32_t(tables.load_cycles - p.dram.row_hit_saves_cycles);
    c.table_row_conflict_cycles = uint32_t(tables.load_cycles + p.dram.row_conflict_adds_cycles);
    c.prefetch_queue_lines = uint32_t(prefetch_queue_lines);
    c.write_queue_lines = uint32_t(write_queue_lines);
    c.load_ports = uint32_t(p.ports.load);
    c.store_ports = uint32_t(p.ports.store);
    c.alu_ports = uint32_t(p.ports.alu);
    c.alu_cycles = uint32_t(p.latency.alu);
    c.refill_cycles = uint32_t(p.branch_refill_cycles);
    c.forward_cycles = uint32_t(p.store_forward_cycles);
    c.counts_rows = counts_rows && c.banks != 0;
    c.extended = p.branch_predictor != "perfect" || p.early_registers != 0 ||
                 p.string.begin_cycles + p.string.page_cycles + p.call_cycles != 0 || p.ports.load + p.ports.store + p.ports.alu != 0 ||
                 p.store_forward_cycles != 0 || weaves;
    c.steps_between_rebases = rebase_interval(p, c, weaves ? std::max(p.exception_entry_cycles, p.exception_exit_cycles) : 0);
    return c;
}

}  // namespace tessera::sim::timing
