// design.h - the contract of a translation design for one layout or mapping.
//
// A design sees the program's accesses in program order. It decides in which order it looks up its structures and what it
// reads from memory. It reads memory through a Port, which updates the data caches and returns the level that served the
// line. Conventional: TLBs, then a walk whose loads go through the caches, then the access itself. A virtually addressed
// hierarchy first references the program's line and then translates. A design keeps only its own state. The engines do
// counting, time, sampling, layouts and output, so a new design needs no change in an engine.
//
// Words. H counts the first-level misses that any structure outside memory serves, M the accesses whose translation reads
// memory-resident structures, C the critical latency of these reads. What a look-up takes is not part of C: translation
// delays an access by its look-up cycles plus its walk. Background loads delay nothing; their latency is B.
#pragma once

#include <span>

#include "base/platform.h"
#include "base/registry.h"
#include "base/select.h"
#include "base/types.h"
#include "cache/eviction_watcher.h"
#include "mmu/shared_l1.h"
#include "mmu/structure_counts.h"
#include "os/address_space.h"
#include "tlb/translation.h"

namespace tessera::sim {

/// The first cache level that a load of translation hardware asks. A walker beside L3 skips the core's caches.
enum class LoadFrom : uint8_t { l1d, l3 };

/// A design's access to the data caches; one call is one reference.
class Port {
public:
    virtual ~Port() = default;
    /// A load by translation hardware that the access waits for. Its latency is part of the walk cycles of the access.
    virtual MemoryLevel walker_load(PhysAddr address, LoadFrom from = LoadFrom::l1d) = 0;
    /// Loads that begin together; the next call begins when the slowest is done, and only that one counts in C.
    /// Returns the level that served each one.
    virtual std::span<const MemoryLevel> walker_loads(std::span<const PhysAddr> addresses, LoadFrom from = LoadFrom::l1d) = 0;
    /// A load that nobody waits for, such as the fill of a second structure. It moves the caches and takes a walker behind the
    /// access's own walk (walker.serves_background 0: one of its own). Its latency is B. Not for an l1_hit.
    virtual MemoryLevel background_load(PhysAddr address, LoadFrom from = LoadFrom::l1d) = 0;
    /// walker_load() and background_load() of several addresses, one after the other. Engines serve them faster in one call.
    virtual void walker_loads_in_turn(std::span<const PhysAddr> addresses, LoadFrom from = LoadFrom::l1d) {
        for (const PhysAddr address : addresses) walker_load(address, from);
    }
    virtual void background_loads(std::span<const PhysAddr> addresses, LoadFrom from = LoadFrom::l1d) {
        for (const PhysAddr address : addresses) background_load(address, from);
    }
    /// The program's own reference: exactly one in each access().
    virtual MemoryLevel program(PhysAddr address) = 0;
    /// Whether a cache level (not memory) holds the line. Changes nothing and takes no time.
    virtual bool holds(MemoryLevel level, PhysAddr address) const = 0;
    /// A reference of one cache level alone, for designs that keep translations in a cache: the line is a tlb_block from now on. Under LRU it
    /// is the most recent of its set. Takes no time.
    virtual void fill(MemoryLevel level, PhysAddr address) = 0;
};

/// When an access is translated. behind_l3: look-up and walk begin when L3 has missed; before that, nothing waits for them.
enum class Place : uint8_t { before, behind_l3 };

/// How an access was translated, and what its look-ups took. One place and one time: a design that translates an access before L1D and again
/// behind L3 (Gupta et al., Midgard, ISCA 2021) needs a second number of look-up cycles, for which lookup_cycles has 16 unused bits, and walk
/// cycles of their own for the loads after program(): one column more in CheckedPort and in the outcomes of accesses, which the clock reads.
struct Translated {
    static constexpr uint32_t platform_lookup = ~uint32_t{0};  ///< tlb.stlb.hit_cycles; an l1_hit takes none
    uint32_t lookup_cycles = platform_lookup;  ///< below 2^16; paid before a walk, too
    Translation found;
    Place place = Place::before;
    Translated(Translation found) : found(found) {}
    Translated(Translation found, uint32_t lookup_cycles, Place place = Place::before)
        : lookup_cycles(lookup_cycles), found(found), place(place) {}
    /// stlb_hit or miss, without a branch: the host cannot predict which.
    static Translated behind_l1(bool hit, uint64_t lookup_cycles) {
        return {Translation(select(hit, uint64_t(Translation::stlb_hit), uint64_t(Translation::miss))), uint32_t(lookup_cycles)};
    }
};
static_assert(sizeof(Translated) == 8, "returned in one register: a larger one would go through memory for each access");

class Design {
public:
    virtual ~Design() = default;
    /// One data access: exactly one program() reference, before or after its walker loads. Returns how it was translated:
    /// stlb_hit counts in H, miss in M. Only a miss may have walker loads; walk cycles are the sum of their latencies.
    /// In the clock, translation precedes the access (Place::before) or follows its L3 miss (Place::behind_l3), in whatever
    /// order the design makes the calls. behind_l3: only for an access that program() served from memory, or an l1_hit.
    /// pre: touch() was called for the 2MB region of the address.
    virtual Translated access(const Access& access, Port& port) = 0;
    /// Translation of a 4KB instruction page that missed the L1 ITLB: stlb_hit or miss, as above, with the platform's
    /// look-up cycles. No program reference, no background loads.
    virtual Translation fetch(VirtAddr address, Port& port) = 0;
    /// H and M only: as access() and fetch(), but without memory reads (walk caches and data caches do not change).
    virtual Translation access_tlb_only(const Access& access) = 0;
    virtual Translation fetch_tlb_only(VirtAddr address) = 0;
    /// First touch of a 2MB region, in program order, the same in all layouts (tables are handed out in this order).
    /// Repeating it changes nothing; engines leave out repetitions as they like.
    virtual void touch(VirtAddr address) = 0;

    /// The mapping changed in this range; the address space already has the new pages. The design forgets what it holds of it.
    /// Engines call this between two accesses, and only under a mapping of several epochs.
    virtual void changed(VirtRange range);
    /// Under a log: an area came, changed its rights or its borders, or went; the address space already has the new ones. Calls come in order,
    /// after those of changed().
    virtual void area_changed(const AreaChange&) {}
    /// H and M depend on the contents of data caches. Engines refuse plans that skip accesses.
    virtual bool needs_caches() const { return false; }
    /// Every address has a page of 4KB, whatever the layout or mapping says: each access that crosses one is then translated twice.
    virtual bool only_4kb_pages() const { return false; }
    /// Is told of the lines that leave data caches; null: nobody is. A design that keeps translations there needs_caches().
    virtual EvictionWatcher* eviction_watcher() { return nullptr; }
    /// The part behind L1, of a design whose L1 DTLB is a FirstLevel of the platform; null: engines do not share its L1.
    virtual BehindSharedL1* behind_shared_l1() { return nullptr; }
    /// Rows of designs.csv, in an order that does not change. None: the design has no structures but those that H and M count.
    virtual std::vector<StructureCounts> structures() const { return {}; }
};

/// mmu.design: name -> design.
Registry<Design, const DesignContext&>& designs();

}  // namespace tessera::sim
