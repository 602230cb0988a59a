// replacement.h - the contract of a replacement policy of TLB arrays.
//
// An array tells its policy every hit and every fill, and asks for a victim only when all ways of the set are in use
// (it fills the lowest-index unused way first). A policy knows ways by their index, never what they hold, and its answers
// depend on the calls before only: the same calls give the same victims.
#pragma once

#include <cstddef>

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

/// tlb.*.replacement: name -> policy for an array of so many sets and ways.
Registry<Replacement, size_t, size_t>& replacements();

}  // namespace tessera::sim
