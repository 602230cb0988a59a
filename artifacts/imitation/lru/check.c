#include "lru/check.h"

static const char *check_page(const struct lru *lru, uint32_t frame, int list) {
    const struct frames *frames = &lru->phys->frames;
    if (frame >= frames->count || frame_kind(frames, frame) != FRAME_USED) return "a page on an LRU list is in use";
    if (!lru_has(lru, frame, LRU_ON_LIST) || lru_has(lru, frame, LRU_ISOLATED)) return "a page on an LRU list says so";
    if (lru_list_of(lru_flags(lru, frame)) != (enum lru_list)list) return "a page is on the list of its flags";
    if (bitmap_count(frames->lru, frame, lru_pages(lru, frame)) != lru_pages(lru, frame)) return "the frame table knows pages on LRU lists";
    return NULL;
}

static const char *check_list(const struct lru *lru, int list) {
    uint64_t all = 0, zones[PHYS_ZONES] = {0};
    const uint32_t head = lru_head(lru, (enum lru_list)list);
    for (uint32_t frame = list_first(lru->links, head); frame != head; frame = list_first(lru->links, frame)) {
        const char *broken = check_page(lru, frame, list);
        if (broken) return broken;
        if (list_last(lru->links, list_first(lru->links, frame)) != frame) return "LRU lists are linked both ways";
        all += lru_pages(lru, frame);
        zones[frame_zone(frame)] += lru_pages(lru, frame);
    }
    if (all != lru->size[list]) return "an LRU list counts its frames";
    for (int zone = 0; zone < PHYS_ZONES; ++zone)
        if (zones[zone] != lru->zone_size[zone][list]) return "an LRU list counts the frames of each zone";
    return NULL;
}

const char *lru_check(const struct lru *lru) {
    uint64_t pages = 0, marked = 0;
    for (int list = 0; list < LRU_LISTS; ++list) {
        const char *broken = check_list(lru, list);
        if (broken) return broken;
        pages += lru->size[list];
    }
    for (uint32_t frame = 0; frame < lru->phys->frames.count; ++frame)
        if (lru_has(lru, frame, LRU_ON_LIST)) marked += lru_pages(lru, frame);
    if (pages != marked) return "pages that say so are on an LRU list";
    for (uint32_t i = 0; i < lru->phys->cpus * LRU_OPS; ++i)
        for (uint32_t j = 0; j < lru->batch[i].count; ++j)
            if (!lru_has(lru, lru->batch[i].frame[j], LRU_IN_BATCH)) return "a page in a batch says so";
    return NULL;
}
