// places.h - the parts of the address space that are modelled: pools of the trace, the pool of files, and ranges of huge pages outside.
//
// Pools of the trace are modelled whole: an access that no area allows ends the run. In the pool of files and outside, only areas of files and
// of huge pages (MAP_HUGETLB) are modelled; the rest (shared memory, stacks, libraries) has 4KB pages that are always mapped.
#pragma once

#include <vector>

#include "driver/machine.h"
#include "tessera/os/log.h"
#include "tessera/trace/trace.h"

namespace tessera::os {

/// Pages are virtual page numbers.
struct Place {
    uint64_t first_page = 0, pages = 0;
    uint8_t kind = 0;  ///< as Record::pool
    uint64_t size_bytes = 0;  ///< the last page may be a part

    bool strict() const { return kind < file_pool; }
    bool holds(uint64_t page) const { return page - first_page < pages; }
};

class Places {
public:
    /// Ranges outside are those that the events map with MAP_HUGETLB. Throws Refusal: more than a log can name.
    Places(const std::vector<trace::Pool> &pools, const trace::Events &events);

    const std::vector<Place> &all() const { return places_; }
    /// Null: the page is not modelled.
    const Place *find(uint64_t page) const;
    /// The place that holds a range of an event whole, and the range. Null: it lies elsewhere.
    const Place *find(trace::EventPool pool, uint64_t offset_bytes, uint64_t pages, uint64_t &page) const;
    /// For the header of the log.
    std::vector<Pool> pools() const;
    /// Files that the program maps in these places.
    std::vector<KnownFile> files(const trace::Events &events) const;

private:
    void add_outside(const trace::Events &events);
    std::vector<Place> places_;
    uint64_t file_base_page_ = 0;
};

/// Of a `map` event: MAP_HUGETLB, the size of its pages, and its length in 4KB pages, which Linux rounds up.
bool wants_huge_pages(const trace::Event &event);
hugetlb_size huge_page_size(const trace::Event &event);
uint64_t mapped_pages(const trace::Event &event);

}  // namespace tessera::os
