// paging_structure.cpp - Intel's paging-structure caches: one array per level of entries that point onward.
//
// After Intel SDM vol. 3A, "Caching Translation Information": an entry of a level covers an aligned region of virtual
// memory and lets a walk begin below this level. A walk searches upwards from the lowest level that it would read. The first
// hit is touched and ends the search, so the levels above it are neither looked up nor touched. LRU; set = region number
// modulo sets. Intel publishes no sizes; platform files mark their sizes as assumed. The arrays are those of x86-64: entries that map
// 256TB (pml5e), 512GB (pml4e), 1GB (pdpte) and 2MB (pde). A format with other levels needs another kind.
#include "tlb/array.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {
namespace {

class PagingStructureCaches final : public WalkCache {
public:
    PagingStructureCaches(const Platform& p, const TableLevels& levels) {
        for (const TableLevel& level : levels) caches_.push_back({TlbArray(geometry_of(level, p), "lru", p), level.shift});
    }

    size_t skip(VirtAddr address, const WalkPath& path) override {
        for (size_t read = path.size() - 1; read > 0; --read) {
            const EntryRead& entry = path[read - 1];
            if (entry.onward && caches_[entry.level].array.lookup(region(address, caches_[entry.level].shift))) return read;
        }
        return 0;
    }
    void fill(VirtAddr address, size_t level) override { caches_[level].array.fill(region(address, caches_[level].shift)); }
    void drop(VirtRange range) override {
        for (OfLevel& cache : caches_) cache.array.drop(in_regions(range, cache.shift));
    }

private:
    struct OfLevel {
        TlbArray array;
        unsigned shift;
    };

    static const Geometry& geometry_of(const TableLevel& level, const Platform& p) {
        switch (level.shift) {
            case 48: return p.pwc_pml5e;
            case 39: return p.pwc_pml4e;
            case 30: return p.pwc_pdpte;
            case 21: return p.pwc_pde;
        }
        throw Refusal("pwc.kind = paging-structure with page_table.format = " + p.page_table_format.name,
                      std::string("entries of its level ") + level.name + " map 2^" + std::to_string(level.shift) +
                          " bytes, and the kind has arrays for 2^21, 2^30, 2^39 and 2^48",
                      "choose walk caches that are made for this format (pwc.kind)");
    }
    static PageNumber region(VirtAddr address, unsigned shift) {
        return {address.value >> shift, PageSize::small_4kb};  // the size only pads the name
    }
    /// The range in the units of region(), whose names pretend to be 4KB pages.
    static VirtRange in_regions(VirtRange range, unsigned shift) {
        return {VirtAddr(range.begin.value >> shift << 12), VirtAddr((((range.end.value - 1) >> shift) + 1) << 12)};
    }

    std::vector<OfLevel> caches_;  ///< by level
};

const Registered row(walk_caches(), "paging-structure",
                     "one LRU cache for each level of non-leaf entries, searched from the lowest upwards",
                     [](const Platform& p, const TableLevels& levels) { return std::make_unique<PagingStructureCaches>(p, levels); });

}  // namespace
}  // namespace tessera::sim
