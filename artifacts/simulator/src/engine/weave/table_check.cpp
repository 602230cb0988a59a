#include "engine/weave/table_check.h"

#include <algorithm>

#include "base/error.h"
#include "engine/instruction_pc.h"
#include "os/kernel_addresses.h"

namespace tessera::sim::weave {

TableCheck::TableCheck(const Mapping& mapping, const std::vector<trace::StaticBlock>& blocks)
    : name_(mapping.name), log_(*mapping.log), blocks_(blocks) {}

void TableCheck::woven(const Chunk& chunk) {
    size_t access = 0;
    for (size_t e = 0; e < chunk.executions; ++e) {
        const trace::StaticBlock& block = blocks_[chunk.block_ids[e]];
        for (size_t i = 0; i < chunk.access_counts[e]; ++i, ++access) {
            const uint64_t address = chunk.addresses[access];
            if (!chunk.is_store[access] || !kernel::is_table(address)) continue;
            const uint64_t entry = kernel::table_physical(address) >> 3;
            if (block.insns[owner_of_access(block, i)].string == trace::StringPart::none) stored_.insert(entry);
            else
                for (uint64_t of_line = 0; of_line < 8; ++of_line) stored_.erase((entry & ~uint64_t{7}) + of_line);
        }
    }
}

void TableCheck::changed(const MappedPages& pages) {
    const std::span<const OsChange> changes = log_.changes_of(epoch_++);
    for (size_t i = 0; i < changes.size(); ++i) {
        const OsChange& change = changes[i];
        if (change.kind == os::Kind::unmap) set(change, pages, false, changes.subspan(i + 1));
        else if (!change.fault && change.cause != os::Cause::around) set(change, pages, true, {});
    }
}

/// Entries of the pages of a change. Those of upper levels stay stored when pages go; so do those of pages that a fault of `later` maps,
/// because the stores of all faults of an epoch come before it. A range without pages that names tables was moved with them.
void TableCheck::set(const OsChange& change, const MappedPages& pages, bool stored, std::span<const OsChange> later) {
    const auto comes_back = [&](uint64_t page) {
        return std::any_of(later.begin(), later.end(), [&](const OsChange& next) { return next.fault && page - next.page < next.pages; });
    };
    for (uint64_t page = change.page; page < change.page + change.pages;) {
        TableFrames::Path path;
        const size_t levels = pages.tables()->tables(VirtAddr(page << 12), path);
        for (size_t i = 0; i < levels; ++i) {
            const uint64_t entry = physical::logged_table(path[i]) / 8 + (page >> (9 * (3 - i)) & 511);
            if (stored || (change.table_count > 0 && i + 1 < levels)) stored_.insert(entry);
            else if (i + 1 == levels && !comes_back(page)) stored_.erase(entry);
        }
        const uint64_t step = levels == 0 || levels == 4 ? 1 : uint64_t{1} << (9 * (4 - levels));
        page = page / step * step + step;
    }
}

void TableCheck::walker_load(PhysAddr address) {
    const uint64_t inside = address.value % address_limit;
    if (!physical::is_logged(address) || stored_.contains(address.value >> 3)) return;
    throw Refusal("--check-tables with log " + name_,
                  "a walk reads entry " + std::to_string(inside % 4096 / 8) + " of the table in frame " + std::to_string(inside / 4096) +
                      ", which no woven store has written [weave/unstored-entry]",
                  "compare the templates with the recording: a store of a page-table entry is missing");
}

}  // namespace tessera::sim::weave
