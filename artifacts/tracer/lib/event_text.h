// event_text.h - the optional section of events as bytes (before compression), and the rules that it keeps.
#pragma once

#include <string>

#include "tessera/trace/trace.h"

namespace tessera::trace {

constexpr uint64_t max_event_text_bytes = uint64_t{1} << 32;

/// Sizes of the section, in the header's line `events=<count> <stored_bytes> <text_bytes>`.
struct EventSizes {
    uint64_t count = 0;
    uint64_t stored_bytes = 0;  ///< compressed, in the file
    uint64_t text_bytes = 0;    ///< before compression
};

std::string events_to_text(const Events& events);
/// False when malformed. Rules between fields are those of wrong_events().
bool events_from_text(const std::string& text, Events& events);

/// Which rule of events.h is broken, of the events of a trace with this header; empty if none.
std::string wrong_events(const Events& events, const Header& header);

}  // namespace tessera::trace
