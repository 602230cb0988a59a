// medium_mapping.h - the mapping that designs are measured on: chunks of 1 to 512 pages, aligned pieces of 512 pages are 2MB pages.
#pragma once

#include <random>

#include "os/mapping.h"
#include "streams.h"

namespace tessera::sim::benchmark {

inline Layout medium_mapping() {
    auto mapping = std::make_shared<Mapping>();
    mapping->name = "medium";
    mapping->epochs.push_back({});
    std::mt19937_64 random(3);
    const uint64_t pages = pool_bytes >> 12;
    uint64_t frame = 0;
    const auto row = [&](uint64_t begin, uint64_t end, uint64_t chunk, PageSize size) {
        if (begin < end) mapping->epochs[0].rows.push_back({trace::PoolKind::heap, begin, frame + (begin - chunk), end - begin, size});
    };
    for (uint64_t page = 0; page < pages;) {
        const uint64_t chunk = page, end = std::min(pages, page + 1 + random() % 512);
        frame += 512 - frame % 512 + page % 512;  // as far into 2MB as the page
        for (uint64_t at = page; at < end;) {
            const bool large = at % 512 == 0 && at + 512 <= end;
            const uint64_t next = large ? at + 512 : std::min(end, at / 512 * 512 + 512);
            row(at, next, chunk, large ? PageSize::large_2mb : PageSize::small_4kb);
            at = next;
        }
        frame += end - page + 1;
        page = end;
    }
    return layout_of(std::move(mapping));
}

}  // namespace tessera::sim::benchmark
