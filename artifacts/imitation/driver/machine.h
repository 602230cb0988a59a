// machine.h - the simulated machine before the program begins: memory, fragmented if the scenario says so, and one empty process.
//
// A PC with all memory free (phys/memory_map.h): what a boot allocates is left out, and so is the kernel's own memory, except page
// tables. Each zone above DMA is fragmented alone. The root table has order 1, as with page-table isolation.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "driver/scenario.h"

namespace tessera::os {

class Machine {
public:
    /// Throws Refusal if memory cannot have this form.
    explicit Machine(const Scenario& scenario);
    ~Machine();
    Machine(const Machine&) = delete;

    phys memory{};
    vm_system system{};
    ::process process{};
    /// What the fragmenter reached, for the log: zone, index in thousandths, pinned frames.
    std::vector<std::pair<std::string, std::string>> notes;

    uint64_t free_frames() const;

private:
    void fragment(const Scenario& scenario);
    std::vector<fragmenter_pins> pins_;
};

}  // namespace tessera::os
