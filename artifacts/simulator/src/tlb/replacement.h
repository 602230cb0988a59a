// replacement.h - the contract of a replacement policy of TLB arrays.
//
// An array reports every hit and every fill to its policy. It asks for a victim only if all ways of the set are in use (it
// fills the unused way with the lowest index first). A policy knows ways by their index, never their contents. Its result
// depends only on earlier calls: the same calls give the same victims.
#pragma once

#include <cstddef>

#include "base/platform.h"
#include "base/registry.h"

namespace tessera::sim {

class Replacement {
public:
    virtual ~Replacement() = default;
    virtual void hit(size_t set, size_t way) = 0;
    virtual void fill(size_t set, size_t way) = 0;
    /// The way to evict, < ways. The array fills it next.
    virtual size_t victim(size_t set) = 0;
};

/// tlb.*.replacement: name -> policy for an array with the given sets and ways.
Registry<Replacement, size_t, size_t, const Platform&>& replacements();

}  // namespace tessera::sim
