// reservations.h - large reservations without access (PROT_NONE) that the anonymous pool has no room for.
//
// Runtimes reserve hundreds of gigabytes of addresses and use a small part (.NET, snmalloc). The kernel gives such addresses
// for nothing, so the library leaves them to it. What becomes accessible later is memory that the layout does not reach: it
// is counted, once per page, and the launcher reports it.
//
// Smaller requests fail with ENOMEM, because malloc's arenas are reserved in this way, and malloc has another place for them.
//
// Callers hold the lock.
#pragma once

#include "core/range_set.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {

constexpr uint64_t kReservation = kPage1G;

class Reservations {
public:
    /// `allowed`: false while a program is recorded. QEMU needs memory for each reserved page (1.6GB for 256GB), and accesses
    /// outside the pools would have 4KB pages under every layout.
    bool init(mosalloc_pool_map* map, bool allowed);
    void set_map(mosalloc_pool_map* map) { map_ = map; }
    /// Whether the program has none now. The only question without the lock.
    bool empty() const { return __atomic_load_n(&held_bytes_, __ATOMIC_RELAXED) == 0; }
    /// Whether the kernel may have this request. A refusal is a message with the pool size that would do, once.
    bool may_leave(uint64_t bytes, uint64_t used_bytes);
    void made(Range addresses);
    /// Accessible from now on.
    void opened(Range addresses);
    /// Unmapped, or replaced by a file. Returns how many bytes were never accessible.
    uint64_t gone(Range addresses);
    /// After gone(), which returned `closed`: the kernel did not unmap them.
    void back(Range addresses, uint64_t closed);
    /// `keeps`: the old range stays mapped (MREMAP_DONTUNMAP). An empty old range is a second mapping of shared memory.
    void moved(Range from, Range to, bool keeps);

private:
    void hold(Range addresses);

    RangeSet held_;    ///< all that are mapped
    RangeSet closed_;  ///< parts that were never accessible
    uint64_t held_bytes_ = 0;
    mosalloc_pool_map* map_ = nullptr;
    bool allowed_ = false, refused_ = false;
};

}  // namespace mosalloc
