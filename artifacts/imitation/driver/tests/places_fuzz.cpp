// places_fuzz.cpp - Places on traces that the reader accepts, with pools and events that a hostile writer chose: places lie below 2^48, and
// a look-up finds the place that a slow search finds, or none. places.cpp is under the sanitizers here; the imitation is not.
#include "driver/places.h"

#include "driver/refusal.h"
#include "traces.h"

using namespace tessera;

namespace {

const char *broken_rule(const trace::Reader &reader, fuzz::Random &rng) {
    const trace::Events events = reader.has_events() ? reader.events() : trace::Events{};
    const os::Places places(reader.header().pools, events);
    using Wide = unsigned __int128;
    for (const os::Place &place : places.all()) {
        if (Wide{place.first_page} * 4096 + place.size_bytes > Wide{1} << 48) return "places end at or below 2^48";
        if (Wide{place.pages} * 4096 < place.size_bytes || Wide{place.pages} * 4096 >= Wide{place.size_bytes} + 4096)
            return "a place has the pages of its bytes";
    }
    for (int look_up = 0; look_up < 20; ++look_up) {
        const uint64_t page = fuzz::border(rng) >> (rng() % 2 * 12);
        const os::Place *wanted = nullptr;
        for (const os::Place &place : places.all())
            if (wanted == nullptr && page >= place.first_page && page < Wide{place.first_page} + place.pages) wanted = &place;
        if (places.find(page) != wanted) return "a page is found in its place";
    }
    for (const trace::Event &event : events.list) {
        uint64_t page = 0;
        const uint64_t pages = os::mapped_pages(event);
        const os::Place *const place = places.find(event.pool, event.offset_bytes, pages, page);
        if (place != nullptr && (page < place->first_page || Wide{page} + pages > Wide{place->first_page} + place->pages))
            return "a range lies in its place";
    }
    if (places.pools().size() != places.all().size()) return "a pool for each place";
    return places.files(events).size() > events.files.size() ? "no more files than the trace has" : nullptr;
}

}  // namespace

int main(int count, char **arguments) {
    return fuzz::run_consumer(
        "places_fuzz", count, arguments, [](const std::string &, const trace::Reader &reader, fuzz::Random &rng) -> const char * {
            try {
                return broken_rule(reader, rng);
            } catch (const os::Refusal &refusal) {
                return std::string(refusal.what()).find("[os/not-modelled]") == std::string::npos ? "Places refuses what it does not model"
                                                                                                  : nullptr;
            }
        });
}
