// pool_state.h - what all parts of one pool share, and the kernel's calls that make a pool's mappings.
#pragma once

#include <cerrno>

#include "core/page_states.h"
#include "core/policy.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {

/// The pool's counters besides its calls; the report prints them.
struct PoolCounters {
    uint64_t softened_protections = 0;  ///< a huge page grants more than one of its 4KB pages asked for
    uint64_t ignored_advice = 0;        ///< madvise that would have changed the mosaic, or that hugetlb refuses
    uint64_t zeroed_bytes = 0;          ///< bytes of windows zeroed by software on reuse
    uint64_t split_pages = 0;
    uint64_t exchanged_pages = 0;       ///< of these, pages that were mapped
    uint64_t unsplit_pages = 0;         ///< splits that were impossible
    uint64_t unsplit_by[MOSALLOC_UNSPLIT_COUNT] = {};
    uint64_t pin_kinds = 0;             ///< bits of enum mosalloc_pin
    uint64_t first_split = 0;           ///< offset
    uint64_t missing_pages = 0;         ///< on demand: missing huge pages
    uint64_t ended_marks = 0;           ///< releases that ended marks of the mapping
    uint64_t refused_marks = 0;         ///< marks that huge pages cannot keep; the program saw EINVAL
    uint64_t open_holes = 0;            ///< ranges that stay accessible after their release
};

struct PoolState {
    PageStates pages;
    Policy policy;
    PoolCounters counters;

    uint64_t base() const { return pages.base(); }
    /// A mark that a huge page cannot keep.
    long refuse_mark() {
        ++counters.refused_marks;
        return -EINVAL;
    }
    /// Advice or a mark that is only a hint, on memory that cannot take it.
    long ignore_advice() {
        ++counters.ignored_advice;
        return 0;
    }
};

/// Reserves [base, base + bytes): no access, no memory, 4KB pages only. MAP_FIXED over what is there.
long reserve_span(uint64_t base, uint64_t bytes);
/// Maps private anonymous memory that can only have 4KB pages over what is there.
long map_small(uint64_t address, uint64_t bytes, int prot, int more_flags);
/// Maps huge pages over what is there; their number is reserved, so touching them does not fail.
long map_huge(uint64_t address, uint64_t bytes, uint64_t page_bytes, int prot);

}  // namespace mosalloc
