#include "vm/place.h"

#include "pt/entry.h"

static uint64_t highest_gap(const struct areas *areas, uint64_t pages, uint64_t low, uint64_t high) {
    for (size_t i = areas->count + 1; i-- > 0;) {
        const uint64_t start = i > 0 ? areas->item[i - 1].end : 0, end = i < areas->count ? areas->item[i].start : high;
        const uint64_t first = start > low ? start : low, last = end < high ? end : high;
        if (first < last && last - first >= pages) return last - pages;
    }
    return 0;
}

uint64_t place_area(const struct areas *areas, uint64_t pages, uint64_t low, uint64_t high) {
    const uint64_t huge = pt_slot_pages(1);
    if (pages % huge == 0) {
        const uint64_t wider = highest_gap(areas, pages + huge, low, high);
        if (wider != 0) return wider % huge == 0 ? wider + huge : (wider + huge - 1) / huge * huge;
    }
    return highest_gap(areas, pages, low, high);
}
