// hvc_common.h - hybrid virtual caching: data caches hold virtual addresses, and translation comes behind L3 (Park, 2.3).
//
// Base of the designs hvc-*, which say how they translate behind L3. What comes first is here:
//   - Filter: an address that the synonym filter (mmu/synonym_filter.h) reports is a candidate. The filter works beside L1D, so it takes
//     no time.
//   - Candidates are translated before L1D by the synonym TLB, one level, looked up beside L1D like any L1 TLB (no cycles). Its misses
//     walk conventionally (walk caches, from L1D on). False positives enter it, too, and then use their virtual address, with which
//     they also miss L3: that translation behind L3 is not modelled (an access has one place of translation, mmu/design.h). Real
//     synonyms use the allocator's physical address, with the synonym bit of the tag: address bit 51 (assumed).
//   - All others reference the caches by virtual address. A line that L1, L2 or L3 holds needs no translation: l1_hit. What memory
//     serves is translated once L3 has missed (Place::behind_l3).
//
// Synonyms: a trace is of one process and does not say which pages are shared. So no page is a synonym (assumed), unless
// synonym_granules makes the first granules of the mmap pool synonyms. In a virtual machine, a second filter has the pages that the
// hypervisor shares (Park, 2.5.1); an address that either filter reports is a candidate. Code pages are conventional: the platform's second
// level, then a walk (assumed). An entry of a TLB is a page of its own size; sizes share an array (assumed).
//
// Not modelled: other address spaces (ASIDs), context switches, which load other filters (Park, 2.3.2), permission bits in tags (2.3.1),
// filters that are built again, translation of dirty lines that L3 evicts and of lines that prefetchers fetch, flushes of lines when the
// mapping changes (Park, 2.7: the new page has the same virtual lines).
#pragma once

#include <stdexcept>

#include "mmu/base_design.h"
#include "mmu/synonym_filter.h"

namespace tessera::sim {

/// Throws Refusal that names the keys of the array's size.
inline Geometry own_geometry(const std::string& section, const std::string& entries_key, uint64_t entries, const std::string& ways_key,
                             uint64_t ways) {
    if (ways == 0 || entries % ways != 0)
        throw Refusal("platform keys " + section + "." + entries_key + " and " + section + "." + ways_key,
                      std::to_string(entries) + " entries in sets of " + std::to_string(ways) + " ways",
                      "make the entries a multiple of the ways");
    return {entries, ways};
}

/// The keys of the base, then `own`.
inline std::vector<OwnKey> hybrid_keys(const std::vector<OwnKey>& own) {
    std::vector<OwnKey> keys = {
        {"synonym_granules", "granules of 32KB", 0, 4096, 0, "assumed: traces are of one process without shared memory",
         "First granules of the mmap pool that are synonyms"},
        {"synonym_entries", "entries", 1, 65536, 64, "Park, 2.3.3", "Synonym TLB, which candidates use"},
        {"synonym_ways", "ways", 1, 64, 4, "Park, 2.3.3", "Its associativity"}};
    keys.insert(keys.end(), own.begin(), own.end());
    return keys;
}

class HybridVirtual : public BaseDesign<Walker, L1::none> {
public:
    HybridVirtual(const std::string& section, const OwnValues& own, const DesignContext& context)
        : BaseDesign(context),
          code_(context.platform),
          synonym_tlb_(own_geometry(section, "synonym_entries", own["synonym_entries"], "synonym_ways", own["synonym_ways"]), "lru",
                       context.platform) {
        for (const Area& area : space_.areas())
            if (area.pool == trace::PoolKind::anon) shared_ = share(area.range, own["synonym_granules"], filter_);
    }

    Translated access(const Access& access, Port& port) final {
        const VirtAddr address = access.address;
        const PageNumber page = page_at(address);
        const bool candidate = filter_.candidate(address) || host_filter_.candidate(address);
        count(filtered_, candidate);
        if (candidate || !delays(address)) return translate_before(address, page, candidate, port);
        if (port.program(PhysAddr(address.value)) != MemoryLevel::dram) return {Translation::l1_hit, 0, Place::behind_l3};
        return look_up(access, page, &port);
    }
    Translation access_tlb_only(const Access&) final {
        throw std::logic_error("a design whose H and M depend on caches was asked for TLB outcomes alone");
    }
    bool needs_caches() const final { return true; }
    /// synonym: of the candidates (accesses), those that are real synonyms (hits); the others are false positives.
    std::vector<StructureCounts> structures() const final {
        std::vector<StructureCounts> rows = {filtered_, synonyms_, synonym_lookups_};
        for (const StructureCounts& row : delayed_structures()) rows.push_back(row);
        return rows;
    }

protected:
    /// Whether an address that is no candidate is translated behind L3; else before L1D, by the synonym TLB.
    virtual bool delays(VirtAddr) const { return true; }
    /// In a virtual machine: the next granules of the mmap pool are synonyms of the host. pre: no access yet.
    void share_by_host(uint64_t granules) {
        for (const Area& area : space_.areas())
            if (area.pool == trace::PoolKind::anon && area.range.begin == shared_.begin)
                shared_.end = share({shared_.end, area.range.end}, granules, host_filter_).end;
    }
    // look_up() comes after memory served the line, and has the walk and the fills in it. It returns Place::behind_l3.
    virtual void drop_delayed(VirtRange range) = 0;
    virtual std::vector<StructureCounts> delayed_structures() const = 0;

    static void count(StructureCounts& row, bool hit, uint64_t cycles = 0) {
        ++row.accesses;
        row.hits += hit;
        row.lookup_cycles += cycles;
    }

private:
    static constexpr uint64_t synonym_bit = uint64_t{1} << 51;
    static_assert(physical::synonym.begin == synonym_bit && physical::synonym.end == 2 * synonym_bit);

    /// Adds the first granules of the range to the filter, and returns their addresses.
    static VirtRange share(VirtRange range, uint64_t granules, SynonymFilter& filter) {
        const uint64_t first = range.begin.value >> SynonymFilter::fine_shift;
        const VirtAddr end(std::min(range.end.value, (first + granules) << SynonymFilter::fine_shift));
        for (uint64_t granule = first; granule << SynonymFilter::fine_shift < end.value; ++granule)
            filter.add(VirtAddr(granule << SynonymFilter::fine_shift));
        return {range.begin, end};
    }
    bool regular_hit(PageNumber page) final { return code_.lookup(page); }
    void fill_regular(PageNumber page) final { code_.fill(page); }
    void drop(VirtRange range) final {
        synonym_tlb_.drop(range);
        code_.drop(range);
        drop_delayed(range);
    }
    bool is_synonym(VirtAddr address) const { return shared_.begin <= address && address < shared_.end; }

    Translated translate_before(VirtAddr address, PageNumber page, bool candidate, Port& port) {
        const bool synonym = is_synonym(address), hit = synonym_tlb_.lookup_or_fill(page);
        if (candidate) count(synonyms_, synonym);
        count(synonym_lookups_, hit);
        if (!hit) walker_.walk(address, page.size, port);
        port.program(synonym ? PhysAddr(physical(address, page).value | synonym_bit) : PhysAddr(address.value));
        return {hit ? Translation::l1_hit : Translation::miss, 0};
    }

    SecondLevel code_;
    TlbArray synonym_tlb_;
    SynonymFilter filter_, host_filter_;  ///< those of the operating system and of the hypervisor
    VirtRange shared_;  ///< what both share
    StructureCounts filtered_{"synonym-filter"}, synonyms_{"synonym"}, synonym_lookups_{"synonym-tlb"};
};

}  // namespace tessera::sim
