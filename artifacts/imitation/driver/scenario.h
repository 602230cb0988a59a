// scenario.h - the machine and the policies of a run, from lines `key = value` (docs/reference/scenarios.md has each key).
//
// The caller gives every key: `tessera lab os run` fills in defaults and checks bounds; here, impossible words and combinations are
// refused. Keys of what the imitation does not model do not exist.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "driver/imitation.h"

namespace tessera::os {

struct Scenario {
    std::string name, text;
    uint64_t memory_bytes = 0;
    bool fragmented = false;
    fragmenter_goal fragmentation{};  ///< of each zone above DMA
    const vm_policy *policy = nullptr;
    ::thp thp{};
    uint64_t swap_bytes = 0;                   ///< of the swap area, its header included; 0: none
    bool swap_synchronous = false;             ///< zram: a page is back when the read returns, and no disk is asked
    uint32_t swap_page_cluster = 0;            ///< a swap fault reads up to 2^this pages
    uint32_t swappiness = 0;
    bool compacts_proactively = false;
    bool caches_files = false;                 ///< the files that the program maps are in memory before it begins
    uint64_t other_cache_bytes = 0;            ///< of another file, read once before the program begins
    uint64_t huge_pages[HUGETLB_SIZES] = {};   ///< of the pools: 2MB, 1GB
    bool areas_cost = false;                   ///< objects of areas take memory (SLUB)
    std::string disk_model;
    uint64_t scan_sleep_milliseconds = 0;      ///< between two wake-ups of khugepaged
    uint64_t frequency_hz = 0;                 ///< assumed
    uint64_t instructions_per_1000_cycles = 0; ///< assumed

    /// Instructions of the program in a time: the driver has no clock. At most 2^62, more than any trace has.
    uint64_t instructions_in(uint64_t milliseconds) const {
        using Wide = unsigned __int128;
        constexpr Wide most = Wide{1} << 62;
        return static_cast<uint64_t>(std::min(most, Wide{milliseconds} * frequency_hz / 1000 * instructions_per_1000_cycles / 1000));
    }
};

/// Throws Refusal that names the line, key and rule.
Scenario parse_scenario(const std::string &text, const std::string &path);
Scenario read_scenario(const std::string &path);

}  // namespace tessera::os
