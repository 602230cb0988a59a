// stepped_design.h - a design by itself, access by access, with a port that records its loads and serves all from L1D.
#pragma once

#include <vector>

#include "mmu/design.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {

class RecordingPort : public Port {
public:
    MemoryLevel walker_load(PhysAddr address, LoadFrom) override { return walker.push_back(address.value), MemoryLevel::l1d; }
    std::span<const MemoryLevel> walker_loads(std::span<const PhysAddr> addresses, LoadFrom from) override {
        served_.assign(addresses.size(), MemoryLevel::l1d);
        for (const PhysAddr address : addresses) walker_load(address, from);
        return served_;
    }
    MemoryLevel background_load(PhysAddr address, LoadFrom) override { return background.push_back(address.value), MemoryLevel::l1d; }
    MemoryLevel program(PhysAddr) override { return MemoryLevel::l1d; }
    bool holds(MemoryLevel, PhysAddr) const override { return false; }
    void fill(MemoryLevel, PhysAddr) override {}

    std::vector<uint64_t> walker, background;  ///< addresses

private:
    std::vector<MemoryLevel> served_;
};

/// The pools of a StreamBuilder.
inline std::vector<trace::Pool> synthetic_pools() { return StreamBuilder().finish().header().pools; }

class SteppedDesign {
public:
    SteppedDesign(const Platform& platform, const Layout& layout)
        : platform_(platform),
          space_(synthetic_pools(), layout),
          design_(designs().make(platform_.mmu_design, DesignContext{platform_, space_})) {}

    struct Step {
        Translation found;
        uint32_t cycles;
        std::vector<uint64_t> walker, background;
    };
    /// A load of a 4KB page of the heap.
    Step load(uint64_t page) {
        const VirtAddr address(heap_base + page * 4096);
        design_->touch(address);
        RecordingPort port;
        const Translated translated = design_->access({address}, port);
        return {translated.found, translated.lookup_cycles, port.walker, port.background};
    }
    /// The next epoch of the mapping.
    void change() {
        for (const VirtRange range : space_.mapping()->change()) design_->changed(range);
    }
    Design& design() { return *design_; }

private:
    Platform platform_;
    AddressSpace space_;
    std::unique_ptr<Design> design_;
};

}  // namespace tessera::sim::testing
