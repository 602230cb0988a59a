// hvc_many_segment.cpp - hybrid virtual caching with many segments behind L3 (Park, 2.4.2 to 2.4.4).
//
// What comes before L3 is in hvc_common.h. A segment is a chunk of the mapping, whatever its page sizes; at most 2,048. An access
// that memory serves looks up, one after the other:
//   - Segment cache: fully associative, LRU (assumed). An entry is a range of 2MB, cut to the segment. 1 cycle (assumed). A hit is H.
//   - Index tree (index_tree.h): each node is looked up in the index cache, 3 cycles a node. A node that is not there is loaded from L3
//     on and enters it. The loads depend on each other, so C is their sum. The index cache is LRU (assumed).
//   - Segment table: holds all segments, 7 cycles. Then the range enters the segment cache.
// All nodes in the index cache: H. Else M.
//
// Time. "The delayed many-segment translation takes 20 cycle" (2.4.4), so this is what tree and table take, whatever the depth, the
// segment cache before them included: translation_cycles. With 0 it is the sum of the parts, which is 1 + 4 x 3 + 7 = 20 only for a
// depth of 4 (more than 343 segments). Loads of nodes come on top.
//
// dimensions = 2, in a virtual machine (2.5.2): what misses the segment cache goes through a tree and a table of the guest's segments,
// and then through those of the host's, one after the other, each in translation_cycles (assumed: Park prints 20 for one). Both trees
// share the index cache. Entries of the segment cache lead from guest-virtual to machine addresses. (assumed) The mapping is the composed
// result: guest and host both have its chunks as segments, and the guest-physical address of data is its virtual address, as under the
// design nested. Host filter: hvc_common.h.
//
// Node n lies 64 n bytes behind the begin of physical::of_design (assumed), and the host's nodes lie behind the longest tree. Pages
// outside the pools and those of the kernel have no segment: the synonym TLB translates them before L1D, and they use their virtual
// addresses (assumed; they are few). When the mapping changes, the operating system writes a new tree, so the index cache forgets all
// nodes. The segment cache forgets entries that the range overlaps or touches, because a segment that ends there may have become longer.
//
// Not modelled: a segment table that guest and host share, faults that fill the segment table, look-up in parallel with L3 (Park's
// variant), other processes' segments.
#include "mmu/designs/hvc_common.h"
#include "mmu/designs/index_tree.h"
#include "os/physical_map.h"

namespace tessera::sim {
namespace {

const char* const section = "design.hvc-many-segment";
constexpr size_t most_segments = 2048;
constexpr uint64_t tree_base = physical::of_design.begin;
constexpr uint64_t tree_bytes = 2 * most_segments * 64;  // at most
static_assert(physical::of_design.holds(2 * tree_bytes));
constexpr uint64_t region_pages = 512;  // of a segment cache's entry

/// All segments of the moment. Throws Refusal if there are too many.
std::vector<uint64_t> segment_starts(const MappedPages& pages) {
    if (pages.chunks().size() > most_segments)
        throw Refusal("mmu.design = hvc-many-segment, whose segment table has " + std::to_string(most_segments) + " segments",
                      "the mapping has " + std::to_string(pages.chunks().size()) + " chunks",
                      "use a mapping with fewer and larger chunks (`tessera mapping show` counts them)");
    std::vector<uint64_t> starts;
    for (const PageChunk& chunk : pages.chunks()) starts.push_back(chunk.page << 12);
    return starts;
}

class ManySegment final : public HybridVirtual {
public:
    ManySegment(const OwnValues& own, const DesignContext& context)
        : HybridVirtual(section, own, context),
          pages_(mapping_of(context.space, "mmu.design = hvc-many-segment")),
          half_full_(own["half_full"] != 0),
          tree_(segment_starts(pages_), half_full_),
          dimensions_(own["dimensions"]),
          cycles_(own),
          segment_cache_({own["sc_entries"], own["sc_entries"]}, "lru", context.platform),
          index_cache_(
              own_geometry(section, "index_cache_bytes", own["index_cache_bytes"] / 64, "index_cache_ways", own["index_cache_ways"]), "lru",
              context.platform) {
        if (dimensions_ == 2) share_by_host(own["host_synonym_granules"]);
        else if (own["host_synonym_granules"] != 0)
            throw Refusal(std::string("platform key ") + section + ".host_synonym_granules with a host",
                          std::to_string(own["host_synonym_granules"]) + " granules, and dimensions = 1 has no host",
                          std::string("set ") + section + ".dimensions = 2, or leave the granules at 0");
    }

private:
    struct Times {
        explicit Times(const OwnValues& own)
            : segment_cache(own["sc_entries"] == 0 ? 0 : uint32_t(own["sc_cycles"])),
              node(uint32_t(own["index_cycles"])),
              table(uint32_t(own["table_cycles"])),
              translation(uint32_t(own["translation_cycles"])) {
            if (translation != 0 && translation < segment_cache)
                throw Refusal(std::string("platform key ") + section + ".translation_cycles of at least sc_cycles, which it includes",
                              std::to_string(translation) + " and " + std::to_string(segment_cache),
                              "correct one of the two; 0 adds up the parts");
            if (translation != 0) node = 0;
        }
        /// Of the segment table, in the first or second dimension.
        uint32_t of_table(unsigned dimension) const {
            return translation == 0 ? table : dimension == 0 ? translation - segment_cache : translation;
        }
        uint32_t segment_cache, node, table, translation;
    };
    struct Range {
        uint64_t end_page = 0;
    };
    struct Block {};

    bool delays(VirtAddr address) const override { return pages_.row(address).chunk != MappedRow::no_chunk; }

    Translated look_up(const Access& access, PageNumber, Port* port) override {
        const VirtAddr address = access.address;
        const PageChunk& segment = pages_.chunks()[pages_.row(address).chunk];
        const uint64_t region = (address.value >> 12) / region_pages * region_pages;
        const uint64_t begin = std::max(region, segment.page), end = std::min(region + region_pages, segment.page + segment.pages);
        uint32_t cycles = 0;
        if (segment_cache_.exists()) {
            const bool hit = segment_cache_.lookup(0, begin) != nullptr;
            count(segment_lookups_, hit, cycles_.segment_cache);
            cycles = cycles_.segment_cache;
            if (hit) return {Translation::stlb_hit, cycles, Place::behind_l3};
        }
        Translation found = Translation::stlb_hit;
        for (unsigned dimension = 0; dimension < dimensions_; ++dimension) {
            tree_.find(address.value, [&](size_t node) {
                const PhysAddr at(tree_base + dimension * tree_bytes + 64 * node);
                const uint64_t line = line_of(at).value;
                const bool hit = index_cache_.lookup_or_fill(line, line);
                count(index_lookups_, hit, cycles_.node);
                cycles += cycles_.node;
                if (hit) return;
                if (port != nullptr) port->walker_load(at, LoadFrom::l3);
                found = Translation::miss;
            });
            count(table_lookups_, true, cycles_.of_table(dimension));
            cycles += cycles_.of_table(dimension);
        }
        segment_cache_.fill(0, begin, {end});
        return {found, cycles, Place::behind_l3};
    }

    void drop_delayed(VirtRange range) override {
        tree_ = IndexTree(segment_starts(pages_), half_full_);
        index_cache_.drop([](uint64_t, Block) { return true; });
        segment_cache_.drop([range](uint64_t begin_page, Range entry) {
            return begin_page << 12 <= range.end.value && range.begin.value <= entry.end_page << 12;
        });
    }
    std::vector<StructureCounts> delayed_structures() const override { return {segment_lookups_, index_lookups_, table_lookups_}; }

    const MappedPages& pages_;
    bool half_full_;
    IndexTree tree_;  ///< of the guest and of the host
    uint64_t dimensions_;
    Times cycles_;
    EntryArray<Range> segment_cache_;  ///< named by the first page of the range
    EntryArray<Block> index_cache_;  ///< of lines
    StructureCounts segment_lookups_{"segment-cache"}, index_lookups_{"index-cache"}, table_lookups_{"segment-table"};
};

const Registered row(
    designs(), "hvc-many-segment", "virtually addressed caches, and an index tree of segments for what L3 misses; needs a mapping",
    hybrid_keys({{"sc_entries", "entries", 0, 4096, 128, "Park, 2.4.3", "Segment cache; 0: none"},
                 {"sc_cycles", "cycles", 0, 1000, 1, "assumed: the parts sum to Park's 20 cycles for a depth of 4", "Its look-up"},
                 {"index_cache_bytes", "bytes", 64, 1048576, 32768, "Park, 2.4.4", "Index cache, in lines of 64 bytes"},
                 {"index_cache_ways", "ways", 1, 64, 8, "Park, 2.4.4", "Its associativity"},
                 {"index_cycles", "cycles", 0, 1000, 3, "Park, 2.4.4 (CACTI 6.5 at 3.4GHz)",
                  "Its look-up, for each node; only with translation_cycles = 0"},
                 {"table_cycles", "cycles", 0, 1000, 7, "Park, 2.4.4 (CACTI 6.5 at 3.4GHz)",
                  "Look-up of the segment table; only with translation_cycles = 0"},
                 {"translation_cycles", "cycles", 0, 1000, 20, "Park, 2.4.4; assumed for each of two dimensions (Park prints 20 for one)",
                  "Segment cache, tree and table together, in each dimension; 0: the sum of the parts"},
                 {"dimensions", "dimensions", 1, 2, 1, "Park, 2.4; in a virtual machine two (2.5.2)",
                  "2: a miss of the segment cache is translated by the guest's segments, then by the host's"},
                 {"host_synonym_granules", "granules of 32KB", 0, 4096, 0, "assumed: traces are of one process without shared memory",
                  "With two dimensions: granules of the mmap pool behind the guest's synonyms that the host shares"},
                 {"half_full", "0 or 1", 0, 1, 0, "assumed: the system packs the tree, as Park's depths need",
                  "1: nodes of the index tree have four children, not seven"}}),
    [](const OwnValues& own, const DesignContext& context) { return std::make_unique<ManySegment>(own, context); });

}  // namespace
}  // namespace tessera::sim
