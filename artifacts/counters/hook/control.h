// control.h - begins and ends the counting, from inside the program.
#pragma once

#include "counters/region.h"

namespace tessera::counters {

struct Control {
    RegionPage* page = nullptr;
    int first = 0, count = 0;  ///< descriptors of the events
};

/// The one of this process. Set before any region begins.
Control& control();

/// A region that begins while another is open, and one that ends outside of any, change nothing and are counted.
void begin_region();
void end_region();

}  // namespace tessera::counters
