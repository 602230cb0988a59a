// radix.cpp - the x86-64 page table: 4 or 5 levels of 512 8-byte entries (Intel SDM vol. 3A, 4-level and 5-level paging).
//
// A walk reads one entry a level from the root down to the leaf: pte for 4KB, pde for 2MB, pdpte for 1GB pages.
//
// Under the log of an operating system, an address that it maps has the tables of the log: the low 48 bits of an entry's
// address are the machine's. Other addresses (outside the pools, or a table that the log does not have because the design ignores page
// sizes) keep tables of their own (os/physical_map.h).
#include "base/error.h"
#include "pagetable/format.h"
#include "pagetable/page_table.h"

namespace tessera::sim {
namespace {

class Radix final : public PageTableFormat {
public:
    explicit Radix(const DesignContext& context) : table_(context.platform.page_table_levels) {
        if (context.space.mapping() == nullptr || context.space.mapping()->tables() == nullptr) return;
        if (table_.root() != Level::pml4e)
            throw Refusal("platform key page_table.levels = 5 with the log of an operating system",
                          "the imitation has tables of four levels", "set page_table.levels = 4");
        logged_ = context.space.mapping()->tables();
    }

    void touch(VirtAddr address) override { table_.touch(address); }
    void entries(VirtAddr address, PageSize size, WalkPath& path) override {
        if (logged_ == nullptr) table_.entries(address, size, physical::tables.begin, path);
        else if (!logged(address, leaf_level(size), path)) table_.entries(address, size, physical::own_tables.begin, path);
    }
    TableLevels levels() const override { return onward_levels(table_.root()); }

private:
    bool logged(VirtAddr address, Level leaf, WalkPath& path) const {
        TableFrames::Path frames;
        const size_t needed = static_cast<size_t>(leaf) - static_cast<size_t>(Level::pml4e) + 1;
        if (logged_->tables(address, frames) < needed) return false;
        path.clear();
        for (size_t i = 0; i < needed; ++i) {
            const Level level = static_cast<Level>(static_cast<size_t>(Level::pml4e) + i);
            path.push_back(entry_read(physical::logged_table(frames[i]), address, level, Level::pml4e, leaf));
        }
        return true;
    }

    PageTable table_;
    const TableFrames* logged_ = nullptr;  ///< of the log; null: there is none
};

const Registered row(page_table_formats(), "radix", "x86-64 table of 4 or 5 levels, frames in order of first touch",
                     [](const DesignContext& context) { return std::make_unique<Radix>(context); });

}  // namespace
}  // namespace tessera::sim
