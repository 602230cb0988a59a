// scenario.h - the machine and the policies of a run, from lines `key = value` (docs/os.md has each key).
//
// The caller gives every key: `tessera os run` fills in defaults and checks bounds; here, impossible words and combinations are
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
    ::thp thp{};
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
Scenario parse_scenario(const std::string& text, const std::string& path);
Scenario read_scenario(const std::string& path);

}  // namespace tessera::os
