// paging_structure.cpp - Intel's paging-structure caches: one array per level of non-leaf entries.
//
// After Intel SDM vol. 3A, "Caching Translation Information": an entry of level k covers an aligned region of virtual
// memory and lets a walk begin below level k. A walk searches upwards from the lowest level that it would read. The first
// hit is touched and ends the search, so the levels above it are neither looked up nor touched. LRU; set = region number
// modulo sets. Intel publishes no sizes; platform files mark their sizes as assumed.
#include <array>

#include "tlb/array.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {
namespace {

class PagingStructureCaches final : public WalkCache {
public:
    explicit PagingStructureCaches(const Platform& p)
        : caches_{TlbArray(p.pwc_pml5e, "lru", p), TlbArray(p.pwc_pml4e, "lru", p), TlbArray(p.pwc_pdpte, "lru", p),
                  TlbArray(p.pwc_pde, "lru", p)} {}

    size_t skip(VirtAddr address, const WalkPath& path) override {
        const Level leaf = path.back().level;
        for (size_t read = path.size() - 1; read > 0; --read) {
            const EntryRead& entry = path[read - 1];
            if (points_onward(entry, leaf) && cache(entry.level).lookup(region(address, entry.level))) return read;
        }
        return 0;
    }
    void fill(VirtAddr address, Level level) override { cache(level).fill(region(address, level)); }
    void drop(VirtRange range) override {
        for (size_t level = 0; level < caches_.size(); ++level) caches_[level].drop(in_regions(range, static_cast<Level>(level)));
    }

private:
    static PageNumber region(VirtAddr address, Level level) {
        return {address.value >> coverage_shift(level), PageSize::small_4kb};  // the size only pads the name
    }
    /// The range in the units of region(), whose names pretend to be 4KB pages.
    static VirtRange in_regions(VirtRange range, Level level) {
        const unsigned shift = coverage_shift(level);
        return {VirtAddr(range.begin.value >> shift << 12), VirtAddr((((range.end.value - 1) >> shift) + 1) << 12)};
    }
    TlbArray& cache(Level level) { return caches_[static_cast<size_t>(level)]; }

    std::array<TlbArray, level_count - 1> caches_;  ///< indexed by Level; leaves of 4KB pages have none
};

const Registered row(walk_caches(), "paging-structure",
                     "one LRU cache for each level of non-leaf entries, searched from the lowest upwards",
                     [](const Platform& p) { return std::make_unique<PagingStructureCaches>(p); });

}  // namespace
}  // namespace tessera::sim
