// replacement.h - the contract of a replacement policy of TLB arrays and data caches.
//
// An array reports every hit and every fill to its policy. It asks for a victim only if all ways of the set are in use (it
// fills the unused way with the lowest index first). A policy knows ways by their index, never their contents. Its result
// depends only on earlier calls: the same calls give the same victims.
//
// A data cache also shows the reference, in the calls with a LineReference. A policy that looks at it derives from CacheReplacement;
// TLB arrays cannot have such a policy. The others work in both places.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "base/platform.h"
#include "base/registry.h"
#include "base/types.h"

namespace tessera::sim {

/// What a line of a data cache holds. tlb_block: translations that a design keeps in the cache (Port::fill in mmu/design.h).
enum class LineClass : uint8_t { data, page_table, tlb_block };

/// One reference of a data cache. A prefetch has the instruction of the access that caused it; so have the loads of a walk.
struct LineReference {
    LineNumber line;
    LineClass holds = LineClass::data;  ///< the line, if this reference brings it
    bool is_store = false;              ///< of the instruction
    uint64_t pc = 0;                    ///< of the instruction; of a code page that is translated, its address
};

class Replacement {
public:
    virtual ~Replacement() = default;
    virtual void hit(size_t set, size_t way) = 0;
    virtual void fill(size_t set, size_t way) = 0;
    /// The way to evict, < ways. The array fills it next.
    virtual size_t victim(size_t set) = 0;

    /// The same in a data cache. victim: the reference is the one that will fill the way.
    virtual void hit(size_t set, size_t way, const LineReference&) { hit(set, way); }
    virtual void fill(size_t set, size_t way, const LineReference&) { fill(set, way); }
    virtual size_t victim(size_t set, const LineReference&) { return victim(set); }
    /// Only data caches can have it.
    virtual bool needs_references() const { return false; }
};

/// A policy that looks at references: it overrides the three functions that get one.
class CacheReplacement : public Replacement {
public:
    void hit(size_t set, size_t way, const LineReference&) override = 0;
    void fill(size_t set, size_t way, const LineReference&) override = 0;
    size_t victim(size_t set, const LineReference&) override = 0;

    void hit(size_t, size_t) final { without_reference(); }
    void fill(size_t, size_t) final { without_reference(); }
    size_t victim(size_t) final { without_reference(); }
    bool needs_references() const final { return true; }

private:
    [[noreturn]] static void without_reference() { throw std::logic_error("a replacement policy of data caches in another array"); }
};

/// tlb.*.replacement and cache.*.replacement: name -> policy for an array with the given sets and ways.
Registry<Replacement, size_t, size_t, const Platform&>& replacements();

}  // namespace tessera::sim
