#include "counters/events.h"

#include <cstring>
#include <linux/perf_event.h>

#include "tessera/common/numbers.h"
#include "tessera/common/text.h"

namespace tessera::counters {
namespace {

constexpr char kNameCharacters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";
/// The last row of the counts, so it can't be an event.
constexpr char kClockRow[] = "region_ns";

bool parse_number(std::string_view text, bool decimal_too, uint64_t* out) {
    const auto value = decimal_too || text.substr(0, 2) == "0x" ? number_or_hex(text) : std::nullopt;
    *out = value.value_or(0);
    return value.has_value();
}

bool parse_small(std::string_view text, uint32_t* out) {
    uint64_t value = 0;
    if (!parse_number(text, true, &value) || value > UINT32_MAX) return false;
    *out = static_cast<uint32_t>(value);
    return true;
}

/// Text that came from a file, in a message.
std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 60)) out += c >= ' ' && c <= '~' ? c : '?';
    return "'" + out + (text.size() > 60 ? "..." : "") + "'";
}

/// Returns what is wrong with the line, empty if nothing.
std::string parse_line(std::string_view line, Event* event) {
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() != 6 && fields.size() != 7)
        return std::to_string(fields.size()) + " fields, separated by tabs; must be 6, or 7 with bp_type";
    event->name = fields[0];
    if (event->name.empty() || event->name.find_first_not_of(kNameCharacters) != std::string::npos)
        return "name " + shown(event->name) + ": must have letters, digits and _.:- only";
    if (event->name == kClockRow) return "name 'region_ns': is that of the clock's row";
    if (!parse_small(fields[1], &event->type)) return "type " + shown(fields[1]) + ": must be a number below 2^32";
    const struct {
        const char* name;
        uint64_t* value;
    } configs[] = {{"config", &event->config}, {"config1", &event->config1}, {"config2", &event->config2}};
    for (size_t i = 0; i < 3; ++i)
        if (!parse_number(fields[2 + i], false, configs[i].value))
            return std::string(configs[i].name) + " " + shown(fields[2 + i]) + ": must be 0x and up to 16 hexadecimal digits";
    event->user = fields[5] == "u" || fields[5] == "uk";
    event->kernel = fields[5] == "k" || fields[5] == "uk";
    if (!event->user && !event->kernel) return "modifiers " + shown(fields[5]) + ": must be u, k or uk";
    const bool breakpoint = event->type == PERF_TYPE_BREAKPOINT;
    if (breakpoint != (fields.size() == 7))
        return breakpoint ? "a breakpoint (type 5) has bp_type as its 7th field" : "only breakpoints (type 5) have a 7th field";
    if (breakpoint && !parse_small(fields[6], &event->breakpoint)) return "bp_type " + shown(fields[6]) + ": must be a number";
    return "";
}

}  // namespace

bool Event::alone() const { return type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT; }

bool parse_events(const std::string& text, std::vector<Event>* events, std::string* error) {
    events->clear();
    size_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++number;
        if (line.empty() || line[0] == '#') continue;
        Event event;
        std::string wrong = parse_line(line, &event);
        for (const Event& other : *events)
            if (wrong.empty() && other.name == event.name) wrong = "name " + shown(event.name) + ": is there twice";
        if (wrong.empty() && events->size() == kMostEvents) wrong = "more than " + std::to_string(kMostEvents) + " events";
        if (!wrong.empty()) {
            *error = "line " + std::to_string(number) + ": " + wrong;
            return false;
        }
        events->push_back(event);
    }
    if (events->empty()) *error = "no event in it";
    return !events->empty();
}

}  // namespace tessera::counters
