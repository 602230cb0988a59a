// table_check.h - the end-to-end check of woven faults: each page-table entry that a walk of data reads was stored there before.
//
// Stores of woven blocks of eight bytes set an entry, their string stores clear the entries of a line. Entries that work of the kernel
// outside faults writes, which is not woven, count as stored: khugepaged's, those of splits, of mremap and of compaction. What is unmapped is
// not stored any more. Walks of addresses outside the log are not checked: their tables are the simulator's own.
#pragma once

#include <span>
#include <unordered_set>

#include "engine/functional.h"
#include "mmu/checked_port.h"
#include "os/os_log.h"

namespace tessera::sim::weave {

class TableCheck final : public WalkWatcher {
public:
    /// The log is that of `mapping`; both outlive this object.
    TableCheck(const Mapping& mapping, const std::vector<trace::StaticBlock>& blocks);

    /// Before a woven chunk is simulated.
    void woven(const Chunk& chunk);
    /// After `pages` went on to the next epoch.
    void changed(const MappedPages& pages);
    /// Throws Refusal for an entry that is not stored.
    void walker_load(PhysAddr address) override;

private:
    void set(const OsChange& change, const MappedPages& pages, bool stored, std::span<const OsChange> later);

    const std::string& name_;
    const OsLog& log_;
    const std::vector<trace::StaticBlock>& blocks_;
    std::unordered_set<uint64_t> stored_;  ///< physical addresses of entries / 8
    size_t epoch_ = 0;
};

}  // namespace tessera::sim::weave
