// pinned.h - the pages of the fragmenter that compaction could move: an owner of pages (lru/lru.h) that reclaim leaves alone.
#pragma once

#include <unordered_map>
#include <vector>

#include "driver/imitation.h"

namespace tessera::os {

class Pinned {
public:
    /// The movable ones among the pins go onto the list of unevictable pages. `pins` outlives this.
    void start(vm_system &system, std::vector<fragmenter_pins> &pins);
    /// They leave the lists; the pins have their frames of that moment.
    void end(vm_system &system);

private:
    static constexpr unsigned owner_number = 2;
    static bool mapped(void *, uint32_t) { return true; }
    static uint32_t referenced(void *, uint32_t, bool *) { return 1; }
    static bool migrate(void *context, uint32_t from, uint32_t to, uint32_t cpu);

    lru_owner owner_{};
    std::unordered_map<uint32_t, uint32_t *> place_;  ///< frame -> where the pins have it
};

}  // namespace tessera::os
