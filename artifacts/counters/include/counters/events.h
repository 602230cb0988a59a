// events.h - the events file: what a run counts, one perf_event_attr a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::counters {

struct Event {
    std::string name;
    uint32_t type = 0;  ///< perf_event_attr.type
    uint64_t config = 0, config1 = 0, config2 = 0;
    bool user = false, kernel = false;  ///< the modes that count
    uint32_t breakpoint = 0;            ///< perf_event_attr.bp_type; config1 is the address, config2 the length

    /// Events that need no counter of the processor are no members of the group: the kernel counts each of them alone.
    bool alone() const;
};

/// More than any pass needs, and few enough for one message with descriptors.
constexpr size_t kMostEvents = 64;

/// Fills `events` in the order of the file. On a malformed line returns false, and `error` names the line and the field.
///
/// A line has 6 fields, separated by one tab: name, type (decimal or 0x hexadecimal), config, config1, config2 (0x
/// hexadecimal), modifiers (`u`, `k` or `uk`). A 7th field is bp_type, of events of type 5 only. Lines that start with `#`
/// and empty lines are comments. A file without events is an error.
bool parse_events(const std::string& text, std::vector<Event>* events, std::string* error);

}  // namespace tessera::counters
