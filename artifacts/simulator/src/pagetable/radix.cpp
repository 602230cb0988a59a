// radix.cpp - the x86-64 page table: 4 or 5 levels of 512 8-byte entries (Intel SDM vol. 3A, 4-level and 5-level paging).
//
// A walk reads one entry a level from the root down to the leaf: pte for 4KB, pde for 2MB, pdpte for 1GB pages.
//
// Under the log of an operating system, an address that it maps has the tables of the log: the low 48 bits of an entry's
// address are the machine's. Other addresses (outside the pools, or a table that the log does not have because the design ignores page
// sizes) keep tables of their own (os/physical_map.h).
#include "pagetable/format.h"
#include "base/error.h"
#include "pagetable/page_table.h"

namespace tessera::sim {

namespace {

class Radix final : public PageTableFormat {
public:
    explicit Radix(const Platform& p) : table_(p.page_table_levels) {}

    void touch(VirtAddr address) override { table_.touch(address); }
    void entries(VirtAddr address, PageSize size, WalkPath& path) override {
        const Level leaf = leaf_level(size);
        path.clear();
        if (frames_ != nullptr && logged(address, leaf, path)) return;
        const TablePath& tables = table_.touch(address);
        const uint64_t behind = frames_ != nullptr ? physical::own_tables.begin - physical::tables.begin : 0;
        for (Level level = table_.root();; level = next(level)) {
            path.push_back({PhysAddr(PageTable::entry_address(tables, address, level).value + behind), level});
            if (level == leaf) return;
        }
    }
    void follow(const TableFrames& frames) override {
        if (table_.root() != Level::pml4e)
            throw Refusal("platform key page_table.levels = 5 with the log of an operating system",
                          "the imitation has tables of four levels", "set page_table.levels = 4");
        frames_ = &frames;
    }

private:
    bool logged(VirtAddr address, Level leaf, WalkPath& path) const {
        TableFrames::Path frames;
        const size_t needed = static_cast<size_t>(leaf) - static_cast<size_t>(Level::pml4e) + 1;
        if (frames_->tables(address, frames) < needed) return false;
        for (size_t i = 0; i < needed; ++i) {
            const Level level = static_cast<Level>(static_cast<size_t>(Level::pml4e) + i);
            const uint64_t index = (address.value >> coverage_shift(level)) & 511;
            path.push_back({PhysAddr(physical::logged_table(frames[i]) + index * 8), level});
        }
        return true;
    }

    PageTable table_;
    const TableFrames* frames_ = nullptr;
};

const Registered row(page_table_formats(), "radix", "x86-64 table of 4 or 5 levels, frames in order of first touch",
                     [](const Platform& p) { return std::make_unique<Radix>(p); });

}  // namespace
}  // namespace tessera::sim
