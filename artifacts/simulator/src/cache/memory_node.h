// memory_node.h - the memories of a machine with several nodes (numa.*), as the program on node 0 sees them.
//
// Page tables are all on one node and data on one node (Mitosis, ASPLOS 2020, Table 2). A load takes the latency of its node. At
// the node with a hog it also waits behind the hog's lines, which are always in the queue (Little's law): hog_lines x
// memory.cycles_per_line. Placement changes times, never what caches and TLBs hold. Not modelled: loads that another node's L3
// serves, coherence, the queue of the link, and how the program's lines delay the hog.
#pragma once

#include "base/platform.h"

namespace tessera::sim {

/// One node's memory: load-to-use time of a load, and least distance between two lines, in cycles.
struct MemoryNode {
    uint64_t load_cycles, cycles_per_line;
};

inline MemoryNode memory_of(const Platform& p, uint64_t node) {
    const Numa& n = p.numa;
    const uint64_t wait = node == n.hog_node ? n.hog_lines * p.memory_cycles_per_line : 0;
    if (node == 0) return {p.memory_load_cycles + wait, p.memory_cycles_per_line};
    return {n.remote_load_cycles + wait, n.remote_cycles_per_line};
}

/// Where loads and write-backs of the program go, and prefetches.
inline MemoryNode data_memory(const Platform& p) { return memory_of(p, p.numa.data_node); }
/// Where loads of page walks go.
inline MemoryNode table_memory(const Platform& p) { return memory_of(p, p.numa.table_node); }
/// Page tables and data do not share a memory: each has its own channels, banks and rows.
inline bool tables_apart(const Platform& p) { return p.numa.table_node != p.numa.data_node; }

}  // namespace tessera::sim
