#include "driver/places.h"

#include <algorithm>
#include <map>

#include "driver/refusal.h"
#include "tessera/trace/pools.h"

namespace tessera::os {
namespace {

constexpr uint32_t map_hugetlb = 0x40000, size_shift = 26, size_mask = 63, log2_of_1gb = 30;  // include/uapi/asm-generic/hugetlb_encode.h
constexpr uint64_t huge_pages = 512;

}  // namespace

bool wants_huge_pages(const trace::Event &event) { return event.kind == trace::EventKind::map && event.flags & map_hugetlb; }

hugetlb_size huge_page_size(const trace::Event &event) {
    return (event.flags >> size_shift & size_mask) == log2_of_1gb ? HUGETLB_1GB : HUGETLB_2MB;
}

uint64_t mapped_pages(const trace::Event &event) {
    const uint64_t pages = trace::pages_in(event.length_bytes);
    if (!wants_huge_pages(event)) return pages;
    const uint64_t unit = uint64_t{1} << hugetlb_order(huge_page_size(event));
    return (pages + unit - 1) / unit * unit;
}

Places::Places(const std::vector<trace::Pool> &pools, const trace::Events &events) {
    for (const trace::Pool &pool : pools)
        places_.push_back({pool.base >> 12, trace::pages_in(pool.size_bytes), static_cast<uint8_t>(pool.kind), pool.size_bytes});
    file_base_page_ = events.file_pool_base >> 12;
    const bool has_files = std::any_of(events.list.begin(), events.list.end(),
                                       [](const trace::Event &e) { return e.pool == trace::EventPool::file && e.file != 0; });
    if (has_files && events.file_pool_bytes > 0)
        places_.push_back({file_base_page_, trace::pages_in(events.file_pool_bytes), file_pool, events.file_pool_bytes});
    add_outside(events);
}

/// Ranges that touch are one.
void Places::add_outside(const trace::Events &events) {
    std::map<uint64_t, uint64_t> ranges;  // first page -> end
    for (const trace::Event &event : events.list) {
        if (event.pool != trace::EventPool::outside || !wants_huge_pages(event)) continue;
        if (event.offset_bytes > trace::address_limit || mapped_pages(event) > trace::pages_in(trace::address_limit - event.offset_bytes))
            throw Refusal("events of the trace", "huge pages (MAP_HUGETLB) at or above 2^48 [os/not-modelled]",
                          "record a program with 48-bit addresses", 1);
        uint64_t first = (event.offset_bytes >> 12) / huge_pages * huge_pages, end = (event.offset_bytes >> 12) + mapped_pages(event);
        for (auto at = ranges.begin(); at != ranges.end();) {
            const bool touches = at->first <= end && first <= at->second;
            if (touches) first = std::min(first, at->first), end = std::max(end, at->second);
            at = touches ? ranges.erase(at) : std::next(at);
        }
        ranges[first] = end;
    }
    if (ranges.size() > size_t{most_pools} - first_outside_pool)
        throw Refusal("events of the trace",
                      "huge pages (MAP_HUGETLB) in " + std::to_string(ranges.size()) + " separate ranges; a log names " +
                          std::to_string(most_pools - first_outside_pool) + " [os/not-modelled]",
                      "use a program that maps them in fewer places", 1);
    uint8_t kind = first_outside_pool;
    for (const auto &[first, end] : ranges) places_.push_back({first, end - first, kind++, (end - first) << 12});
}

const Place *Places::find(uint64_t page) const {
    for (const Place &place : places_)
        if (place.holds(page)) return &place;
    return nullptr;
}

const Place *Places::find(trace::EventPool pool, uint64_t offset_bytes, uint64_t pages, uint64_t &page) const {
    page = offset_bytes >> 12;
    if (pool == trace::EventPool::file) page += file_base_page_;
    for (const Place &place : places_) {
        const bool of_pool = place.strict()
                                 ? static_cast<uint8_t>(pool) == place.kind
                                 : (pool == trace::EventPool::file) == (place.kind == file_pool) && pool >= trace::EventPool::file;
        if (!of_pool) continue;
        if (place.strict()) page = (offset_bytes >> 12) + place.first_page;
        if (page >= place.first_page && pages <= place.pages && page - place.first_page <= place.pages - pages) return &place;
    }
    return nullptr;
}

std::vector<Pool> Places::pools() const {
    std::vector<Pool> found;
    for (const Place &place : places_) found.push_back({place.kind, place.first_page << 12, place.size_bytes});
    return found;
}

std::vector<KnownFile> Places::files(const trace::Events &events) const {
    std::vector<KnownFile> found;
    for (size_t i = 0; i < events.files.size(); ++i) {
        const auto mapped = [&](const trace::Event &event) {
            uint64_t page = 0;
            return event.file == i + 1 && event.kind == trace::EventKind::map &&
                   find(event.pool, event.offset_bytes, trace::pages_in(event.length_bytes), page);
        };
        if (std::any_of(events.list.begin(), events.list.end(), mapped))
            found.push_back({static_cast<uint32_t>(i + 1), events.files[i].size_bytes});
    }
    return found;
}

}  // namespace tessera::os
