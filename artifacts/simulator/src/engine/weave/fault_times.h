// fault_times.h - the CSV rows of --fault-times-out: each woven fault that a timed part has, with its latency.
#pragma once

#include <string>

#include "engine/engine.h"
#include "engine/weave/woven_stream.h"

namespace tessera::sim::weave {

std::string fault_times_header();
/// times: of one layout; faults: of the stream that had these times.
std::string format_fault_times(const Layout& layout, const std::vector<FaultTime>& times, const std::vector<WovenFault>& faults);

}  // namespace tessera::sim::weave
