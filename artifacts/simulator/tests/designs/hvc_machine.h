// hvc_machine.h - a design alone, with a port that serves what the test says, for the tests of designs that translate behind L3.
#pragma once

#include <gtest/gtest.h>

#include "mmu/design.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {

class ScriptedPort final : public Port {
public:
    MemoryLevel serves = MemoryLevel::dram;  ///< the program's references
    std::string calls;                       ///< p: program; w: walker load from L1D on; 3: walker load from L3 on
    std::vector<uint64_t> loads;
    uint64_t program_address = 0;

    MemoryLevel walker_load(PhysAddr address, LoadFrom from) override {
        calls += from == LoadFrom::l3 ? '3' : 'w';
        loads.push_back(address.value);
        return MemoryLevel::dram;
    }
    std::span<const MemoryLevel> walker_loads(std::span<const PhysAddr> addresses, LoadFrom from) override {
        levels_.clear();
        for (const PhysAddr address : addresses) levels_.push_back(walker_load(address, from));
        return levels_;
    }
    MemoryLevel background_load(PhysAddr, LoadFrom) override {
        calls += 'b';
        return MemoryLevel::dram;
    }
    MemoryLevel program(PhysAddr address) override {
        calls += 'p';
        program_address = address.value;
        return serves;
    }
    bool holds(MemoryLevel, PhysAddr) const override { return false; }
    void fill(MemoryLevel, PhysAddr) override {}

private:
    std::vector<MemoryLevel> levels_;
};

/// A mapping file without the file.
inline Layout mapped(std::vector<std::vector<MappingRow>> epochs) {
    Mapping mapping{"by-hand", {}};
    for (std::vector<MappingRow>& rows : epochs) mapping.epochs.push_back({100 * mapping.epochs.size(), std::move(rows)});
    return layout_of(std::make_shared<const Mapping>(std::move(mapping)));
}

/// `count` chunks of the heap, side by side, with a free frame between two.
inline Layout segments(uint64_t count, uint64_t pages_each) {
    std::vector<MappingRow> rows;
    for (uint64_t i = 0; i < count; ++i) rows.push_back({trace::PoolKind::heap, i * pages_each, i * (pages_each + 1), pages_each});
    return mapped({rows});
}

class Machine {
public:
    Machine(Chosen design, const Layout& layout, uint64_t heap_bytes = uint64_t{4} << 30)
        : space_({{trace::PoolKind::heap, heap_base, heap_bytes, heap_bytes},
                  {trace::PoolKind::anon, heap_base + heap_bytes + anon_gap(heap_bytes), uint64_t{1} << 30, uint64_t{1} << 30}},
                 layout),
          design_(designs().make(design, {platform_, space_})) {}

    /// After it, port.calls are the calls of this access.
    Translated access(uint64_t address) {
        port.calls.clear();
        port.loads.clear();
        design_->touch(VirtAddr(address));
        return design_->access({VirtAddr(address)}, port);
    }
    Translation fetch(uint64_t address) {
        port.calls.clear();
        design_->touch(VirtAddr(address));
        return design_->fetch(VirtAddr(address), port);
    }
    void next_epoch() {
        for (const VirtRange& range : space_.mapping()->change()) design_->changed(range);
    }
    StructureCounts structure(const std::string& name) const {
        for (const StructureCounts& row : design_->structures())
            if (row.name == name) return row;
        ADD_FAILURE() << "no structure " << name;
        return {};
    }
    Design& design() { return *design_; }

    ScriptedPort port;

private:
    /// The mmap pool begins at anon_base unless the heap is larger.
    static uint64_t anon_gap(uint64_t heap_bytes) { return heap_base + heap_bytes < anon_base ? anon_base - heap_base - heap_bytes : 0; }

    Platform platform_ = haswell();
    AddressSpace space_;
    std::unique_ptr<Design> design_;
};

inline void expect_translated(const Translated& is, Translation found, uint32_t lookup_cycles, Place place) {
    EXPECT_EQ(int(is.found), int(found));
    EXPECT_EQ(is.lookup_cycles, lookup_cycles);
    EXPECT_EQ(int(is.place), int(place));
}

}  // namespace tessera::sim::testing
