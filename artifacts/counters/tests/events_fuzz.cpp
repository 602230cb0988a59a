// Mutated events files: parse_events must return, must stay inside memory (checked by sanitizers), and what it accepts must
// mean the same when it is written out again. Runs for the seconds given as argument; prints its seed.
#include <cinttypes>
#include <cstdio>
#include <string>

#include "counters/events.h"
#include "fuzz.h"

using namespace tessera::counters;

namespace {

std::string number(std::mt19937_64& rng) {
    static constexpr uint64_t kValues[] = {0, 1, 5, 0x7fffffff, 0xffffffff, 0x100000000, UINT64_MAX};
    char text[32];
    snprintf(text, sizeof text, rng() % 8 == 0 ? "%" PRIu64 : "0x%" PRIx64, rng() % 2 == 0 ? rng() >> rng() % 64 : kValues[rng() % 7]);
    return text;
}

std::string line(std::mt19937_64& rng) {
    static constexpr const char* kModes[] = {"u", "k", "uk", "u", "uk", "", "ku"};
    const bool breakpoint = rng() % 8 == 0;
    std::string text = "event" + std::to_string(rng() % 40) + "\t" + (breakpoint ? "5" : std::to_string(rng() % 12));
    for (int i = 0; i < 3; ++i) text += "\t" + number(rng);
    text += std::string("\t") + kModes[rng() % 7];
    if (breakpoint != (rng() % 16 == 0)) text += "\t" + number(rng);
    return rng() % 10 == 0 ? "# " + text : text;
}

std::string random_file(std::mt19937_64& rng) {
    std::string text;
    for (size_t i = rng() % 5; i > 0; --i) text += line(rng) + "\n";
    for (size_t i = rng() % 2 == 0 ? 0 : rng() % 4; i > 0 && !text.empty(); --i) {
        static constexpr char kBytes[] = "\t\n\r#0x,u k\xff";
        const size_t at = rng() % text.size();
        switch (rng() % 4) {
            case 0: text[at] = kBytes[rng() % sizeof kBytes]; break;  // the last is NUL
            case 1: text.erase(at, 1 + rng() % 4); break;
            case 2: text.insert(at, 1 + rng() % 300, kBytes[rng() % sizeof kBytes]); break;
            default: text += text.substr(at);
        }
    }
    return text;
}

std::string written(const std::vector<Event>& events) {
    std::string text;
    for (const Event& event : events) {
        char fields[160];
        snprintf(fields, sizeof fields, "\t%" PRIu32 "\t0x%" PRIx64 "\t0x%" PRIx64 "\t0x%" PRIx64 "\t%s%s", event.type, event.config,
                 event.config1, event.config2, event.user ? "u" : "", event.kernel ? "k" : "");
        text += event.name + fields + (event.type == 5 ? "\t" + std::to_string(event.breakpoint) : "") + "\n";
    }
    return text;
}

const char* broken_rule(const std::string& text, bool* accepted) {
    std::vector<Event> events, again;
    std::string error;
    *accepted = parse_events(text, &events, &error);
    if (!*accepted) return error.empty() ? "a rejected file has a message" : nullptr;
    if (events.empty() || events.size() > kMostEvents) return "an accepted file has events";
    if (!parse_events(written(events), &again, &error)) return "what was accepted is accepted again";
    return written(again) == written(events) ? nullptr : "what was accepted means the same again";
}

}  // namespace

int main(int count, char** arguments) {
    tessera::fuzz::Run run("events_fuzz", count, arguments);
    while (run.more()) {
        const std::string text = random_file(run.rng);
        bool good = false;
        const char* rule = broken_rule(text, &good);
        run.refusals += good ? 0 : 1;
        run.accepted(text, rule);
    }
    return run.finish();
}
