// parts.cpp - a small example of each kind of component that a conventional design consists of.
#include <utility>

#include "branch/predictor.h"
#include "cache/prefetcher.h"
#include "os/allocator.h"
#include "pagetable/format.h"
#include "os/physical_map.h"
#include "tlb/array.h"
#include "tlb/organisation.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {
namespace {

/// Evicts the ways in turn, whatever they hold.
class RoundRobin final : public Replacement {
public:
    RoundRobin(size_t sets, size_t ways) : ways_(ways), next_(sets, 0) {}
    void hit(size_t, size_t) override {}
    void fill(size_t set, size_t way) override { next_[set] = (way + 1) % ways_; }
    size_t victim(size_t set) override { return next_[set]; }

private:
    size_t ways_;
    std::vector<size_t> next_;
};
const Registered round_robin(replacements(), "example-round-robin", "the ways in turn",
                             [](size_t sets, size_t ways, const Platform&) { return std::make_unique<RoundRobin>(sets, ways); });

/// One array of the STLB's shape for all page sizes, and no first level.
class OneArray final : public TlbOrganisation {
public:
    explicit OneArray(const Platform& p) : array_(p.stlb, p.stlb_replacement, p) {}
    Translation lookup(PageNumber page) override { return array_.lookup(page) ? Translation::stlb_hit : Translation::miss; }
    void fill(PageNumber page) override { array_.fill(page); }
    bool lookup_instruction(PageNumber page) override { return array_.lookup(page); }
    void fill_instruction(PageNumber page) override { array_.fill(page); }

private:
    TlbArray array_;
};
const Registered one_array(tlb_organisations(), "example-one-array", "one array for everything",
                           [](const Platform& p) { return std::make_unique<OneArray>(p); });

/// Keeps the entry that points onward from the root, of the region walked last.
class LastRoot final : public WalkCache {
public:
    explicit LastRoot(const TableLevels& levels) : shift_(levels.empty() ? 0 : levels[0].shift) {}
    size_t skip(VirtAddr address, const WalkPath& path) override { return path[0].onward && address.value >> shift_ == region_ ? 1 : 0; }
    void fill(VirtAddr address, size_t level) override {
        if (level == 0) region_ = address.value >> shift_;
    }

private:
    unsigned shift_;
    uint64_t region_ = ~uint64_t{0};
};
const Registered last_root(walk_caches(), "example-last-root", "the entry of the root used last",
                           [](const Platform&, const TableLevels& levels) { return std::make_unique<LastRoot>(levels); });

/// A hashed table of 2^24 lines: a walk reads the line that the page's number hashes to, and the next one for large pages.
class Hashed final : public PageTableFormat {
public:
    void touch(VirtAddr) override {}
    void entries(VirtAddr address, PageSize size, WalkPath& path) override {
        const uint64_t line = (address.value >> shift_of(size)) * 0x9e3779b97f4a7c15 >> 40;
        path.assign(1, {PhysAddr(physical::of_format.begin + line * 64), 0, false, 0});
        if (size != PageSize::small_4kb) path.push_back({PhysAddr(path[0].address.value + 64), 1, false, 0});
    }
};
const Registered hashed(page_table_formats(), "example-hashed", "one or two probes of a hashed table",
                        [](const DesignContext&) { return std::make_unique<Hashed>(); });

/// Asks for the line behind the access.
class NextLine final : public Prefetcher {
public:
    void observe(const DemandAccess& access, std::vector<VirtAddr>& wanted) override {
        const VirtAddr next(access.address.value + 64);
        if (next.value >> 12 == access.address.value >> 12) wanted.push_back(next);
    }
};
const Registered next_line(prefetchers(), "example-next-line", "the next line",
                           [](const PrefetchSlot&, const Platform&) { return std::make_unique<NextLine>(); });

/// Physical memory is virtual memory with gigabytes in reverse order, among 2^bits of them.
class Backwards final : public Allocator {
public:
    explicit Backwards(uint64_t bits) : flipped_(((uint64_t{1} << bits) - 1) << 30) {}
    PhysAddr physical(VirtAddr address, PageSize) override { return PhysAddr(address.value ^ flipped_); }

private:
    uint64_t flipped_;
};
const Registered backwards(
    allocators(), "example-backwards", "gigabytes in reverse order",
    {{"bits", "bits", 0, 18, 18, "assumed: all 256TB", "Gigabytes among which the order is turned, as a power of two"}},
    [](const OwnValues& own, const AddressSpace&, const Platform&) { return std::make_unique<Backwards>(own["bits"]); });

/// Predicts what the branch before it did, whichever it was.
class AsBefore final : public Predictor {
public:
    bool conditional(uint64_t, bool taken) override { return std::exchange(last_, taken); }
    void unconditional(uint64_t, uint64_t) override {}

private:
    bool last_ = false;
};
const Registered as_before(predictors(), "example-as-before", "as the conditional branch before it",
                           [] { return std::make_unique<AsBefore>(); });

}  // namespace
}  // namespace tessera::sim
