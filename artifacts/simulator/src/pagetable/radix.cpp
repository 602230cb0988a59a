// radix.cpp - the x86-64 page table: 4 or 5 levels of 512 8-byte entries (Intel SDM vol. 3A, 4-level and 5-level paging).
//
// A walk reads one entry a level from the root down to the leaf: pte for 4KB, pde for 2MB, pdpte for 1GB pages.
#include "pagetable/format.h"
#include "pagetable/page_table.h"

namespace tessera::sim {

namespace {

class Radix final : public PageTableFormat {
public:
    explicit Radix(const Platform& p) : table_(p.page_table_levels) {}

    void touch(VirtAddr address) override { table_.touch(address); }
    void entries(VirtAddr address, PageSize size, WalkPath& path) override {
        const TablePath& tables = table_.touch(address);
        const Level leaf = leaf_level(size);
        path.clear();
        for (Level level = table_.root();; level = next(level)) {
            path.push_back({PageTable::entry_address(tables, address, level), level});
            if (level == leaf) return;
        }
    }

private:
    PageTable table_;
};

const Registered row(page_table_formats(), "radix", "x86-64 table of 4 or 5 levels, frames in order of first touch",
                     [](const Platform& p) { return std::make_unique<Radix>(p); });

}  // namespace
}  // namespace tessera::sim
