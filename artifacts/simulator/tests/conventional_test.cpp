// conventional_test.cpp - what the conventional MMU reads from memory, and in which order, seen through its port.
#include <gtest/gtest.h>

#include "mmu/design.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t megabytes2 = 2 << 20, gigabyte = 1 << 30;

class Recorder final : public Port {
public:
    std::string calls;  ///< w for a walker load, p for the program's reference
    std::vector<uint64_t> walker_addresses;
    uint64_t program_address = 0;
    MemoryLevel walker_load(PhysAddr address, LoadFrom) override {
        calls += 'w';
        walker_addresses.push_back(address.value);
        return MemoryLevel::l1d;
    }
    MemoryLevel program(PhysAddr address) override {
        calls += 'p';
        program_address = address.value;
        return MemoryLevel::l1d;
    }
    // What the conventional design never asks for.
    std::span<const MemoryLevel> walker_loads(std::span<const PhysAddr>, LoadFrom) override {
        return calls += '!', std::span<const MemoryLevel>();
    }
    MemoryLevel background_load(PhysAddr, LoadFrom) override { return calls += '!', MemoryLevel::l1d; }
    bool holds(MemoryLevel, PhysAddr) const override { return false; }
    void fill(MemoryLevel, PhysAddr) override { calls += '!'; }
};

/// A design over one pool; access() tells the calls that one access made.
class Machine {
public:
    explicit Machine(Platform p, const Layout& layout = all_4kb())
        : platform_(std::move(p)),
          space_({{trace::PoolKind::heap, heap_base, 8 * gigabyte, 0}}, layout),
          design_(designs().make("conventional", {platform_, space_})) {}
    std::string access(uint64_t offset) {
        port = Recorder();
        const VirtAddr address(heap_base + offset);
        design_->touch(address);
        last = design_->access({address}, port).found;
        return port.calls;
    }
    std::string fetch(uint64_t address) {
        port = Recorder();
        design_->touch(VirtAddr(address));
        last = design_->fetch(VirtAddr(address), port);
        return port.calls;
    }
    Recorder port;
    Translation last = Translation::l1_hit;

private:
    Platform platform_;
    AddressSpace space_;
    std::unique_ptr<Design> design_;
};

TEST(Conventional, WalksThenReferencesTheLine) {
    Machine m(haswell());
    EXPECT_EQ(m.access(0x1234), "wwwwp");
    EXPECT_EQ(m.port.program_address, heap_base + 0x1234);
    EXPECT_EQ(m.last, Translation::miss);
    EXPECT_EQ(m.access(0x1000), "p");  // TLB hit
    EXPECT_EQ(m.last, Translation::l1_hit);
}

TEST(Conventional, WalksBeginBelowTheLowestWalkCacheThatHits) {
    Machine m(haswell());
    m.access(0);
    EXPECT_EQ(m.access(4096), "wp");            // PDE cached
    EXPECT_EQ(m.access(megabytes2), "wwp");     // PDPTE cached
    EXPECT_EQ(m.access(gigabyte), "wwwp");      // PML4E cached
}

TEST(Conventional, FiveLevelsReadOneMore) {
    Platform p = haswell();
    p.page_table_levels = 5;
    EXPECT_EQ(Machine(p).access(0), "wwwwwp");
    p.pwc_pml4e = {};
    p.pwc_pml5e = {1, 1};
    Machine m(p);
    m.access(0);
    EXPECT_EQ(m.access(gigabyte), "wwwwp");  // below the PML5E
}

TEST(Conventional, LargePagesWalkLess) {
    const Layout layout{"mixed",
                        {window(trace::PoolKind::heap, PageSize::large_2mb, 0, gigabyte),
                         window(trace::PoolKind::heap, PageSize::huge_1gb, gigabyte, 4ull * gigabyte)}};
    Machine m(haswell(), layout);
    EXPECT_EQ(m.access(0), "wwwp");
    EXPECT_EQ(m.access(megabytes2), "wp");   // PDPTE cached; the leaf PDE is never kept
    EXPECT_EQ(m.access(gigabyte), "wp");     // PML4E cached
    EXPECT_EQ(m.access(2ull * gigabyte), "wp");
}

// A look-up that a lower cache ends must not refresh the caches above it.
TEST(Conventional, WalkCachesAboveTheHitAreNotTouched) {
    Platform p = haswell();
    p.pwc_pde = {8, 8}, p.pwc_pdpte = {2, 2};
    Machine m(p);
    m.access(0);                               // PDPTE of gigabyte 0
    m.access(gigabyte);                        // PDPTE of gigabyte 1
    EXPECT_EQ(m.access(8192), "wp");           // ends at the PDE cache: gigabyte 0 stays the older PDPTE
    EXPECT_EQ(m.access(2ull * gigabyte), "wwwp");  // takes its place
    EXPECT_EQ(m.access(gigabyte + megabytes2), "wwp");
    EXPECT_EQ(m.access(megabytes2), "wwwp");
}

TEST(Conventional, FetchesUse4KbPagesAndNoProgramLine) {
    const Layout layout{"huge", {window(trace::PoolKind::heap, PageSize::huge_1gb, 0, 8ull * gigabyte)}};
    Machine m(haswell(), layout);
    EXPECT_EQ(m.fetch(heap_base), "wwww");
    EXPECT_EQ(m.last, Translation::miss);
    EXPECT_EQ(m.fetch(heap_base), "");
    EXPECT_EQ(m.last, Translation::stlb_hit);
    EXPECT_EQ(m.access(0), "wp");  // its 1GB translation is another one; the PML4E is shared
}

TEST(Conventional, ScatteredFramesMoveTheLineButNotTheTables) {
    Platform p = haswell();
    Machine identity(p);
    p.allocator = "scattered";
    Machine scattered(p);
    identity.access(0x5678), scattered.access(0x5678);
    EXPECT_EQ(scattered.port.walker_addresses, identity.port.walker_addresses);
    EXPECT_NE(scattered.port.program_address, identity.port.program_address);
    EXPECT_EQ(scattered.port.program_address & 4095, 0x678u);
}

}  // namespace
}  // namespace tessera::sim::testing
