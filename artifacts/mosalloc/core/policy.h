// policy.h - the choices for cases that 4KB pages support and huge pages do not.
#pragma once

#include "core/base.h"

namespace mosalloc {

/// What happens when a program wants different protections inside one huge page, which the hardware cannot give.
enum class Protections : uint8_t {
    soft,    ///< the page grants the union of what its parts ask for; counted
    guards,  ///< as soft, but memory with reduced protection gets 4KB pages: the program may rely on the fault
    exact,   ///< any difference makes 4KB pages
};

struct Policy {
    Protections protections = Protections::guards;
    bool on_demand = false;           ///< huge pages are mapped when their memory is handed out, not at start
    uint64_t keep_bytes = kPage1G;    ///< on demand: unused huge pages up to this stay mapped, for the next owner
    uint64_t most_holes = 65530 / 4;  ///< of all pools: further ones stay open (small_parts.h)
    uint64_t most_bytes = ~uint64_t{0};  ///< of the machine, with swap: larger requests only probe for an overflow
    bool touch_present = false;       ///< on demand: a limit of a cgroup counts pages at the first touch, which is then SIGBUS
    bool remap_released = false;      ///< only a new mapping really frees memory (strict overcommit, QEMU)
};

}  // namespace mosalloc
