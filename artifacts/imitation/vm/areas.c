#include "vm/areas.h"

#include <stdlib.h>
#include <string.h>

#include "base/events.h"
#include "base/host.h"
#include "vm/merge.h"

void areas_destroy(struct areas *areas) {
    free(areas->item);
    free(areas->objects);
    areas->item = NULL;
    areas->objects = NULL;
    areas->count = areas->room = areas->objects_room = areas->recent = 0;
}

size_t areas_from(struct areas *areas, uint64_t page) {
    const size_t recent = areas->recent;
    const struct area *item = areas->item;
    if (recent < areas->count && page < item[recent].end && (recent == 0 || page >= item[recent - 1].end)) return recent;
    size_t low = 0, high = areas->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (areas->item[middle].end > page) high = middle;
        else low = middle + 1;
    }
    return areas->recent = low;
}

struct area *areas_at(struct areas *areas, uint64_t page) {
    const size_t index = areas_from(areas, page);
    return index < areas->count && areas->item[index].start <= page ? &areas->item[index] : NULL;
}

bool areas_free(struct areas *areas, uint64_t start, uint64_t end) {
    const size_t index = areas_from(areas, start);
    return index == areas->count || areas->item[index].start >= end;
}

/// Objects of a new area at `index`, copied from the one before it or not.
static void insert_objects(struct areas *areas, size_t index, bool copied) {
    const struct area_objects made = copied ? area_objects_copy(areas->slabs, &areas->objects[index - 1]) : area_objects_new(areas->slabs);
    areas->objects = host_grow(areas->objects, &areas->objects_room, areas->count + 1, sizeof *areas->objects);
    memmove(areas->objects + index + 1, areas->objects + index, (areas->count - index) * sizeof *areas->objects);
    areas->objects[index] = made;
}

static void insert(struct areas *areas, size_t index, struct area area, bool copied) {
    if (areas->slabs) insert_objects(areas, index, copied);
    areas->item = host_grow(areas->item, &areas->room, areas->count + 1, sizeof *areas->item);
    memmove(areas->item + index + 1, areas->item + index, (areas->count - index) * sizeof *areas->item);
    areas->item[index] = area;
    ++areas->count;
}

static void tell(const struct areas *areas, uint64_t start, uint64_t end, const struct area *area) {
    const struct events *sink = areas->events;
    const struct area_change change = {areas, start, end, area};
    if (sink && sink->area) sink->area(sink->context, &change);
}

void areas_report(const struct areas *areas, size_t index) {
    tell(areas, areas->item[index].start, areas->item[index].end, &areas->item[index]);
}

static void take_out(struct areas *areas, size_t first, size_t last) {
    if (areas->slabs) {
        for (size_t i = first; i < last; ++i) area_objects_free(areas->slabs, &areas->objects[i]);
        memmove(areas->objects + first, areas->objects + last, (areas->count - last) * sizeof *areas->objects);
    }
    memmove(areas->item + first, areas->item + last, (areas->count - last) * sizeof *areas->item);
    areas->count -= last - first;
}

void areas_remove(struct areas *areas, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) tell(areas, areas->item[i].start, areas->item[i].end, NULL);
    take_out(areas, first, last);
}

static void set_start(struct area *area, uint64_t start) {
    area->offset += start - area->start;
    area->start = start;
}

static void border(const struct areas *areas, uint64_t page) {
    if (areas->border) areas->border(areas->context, page);
}

static void split(struct areas *areas, size_t index, uint64_t page) {
    struct area above = areas->item[index];
    border(areas, page);
    set_start(&above, page);
    insert(areas, index + 1, above, true);       // its objects may need reclaim, which looks for areas of pages
    areas->item[index].end = page;
    areas_report(areas, index + 1);
}

static void take_anon(struct areas *areas, struct area *area, const struct area *from) {
    area->anon = from->anon;
    area->chain = from->chain;
    if (areas->slabs) area_objects_clone(areas->slabs, &areas->objects[area - areas->item], &areas->objects[from - areas->item]);
}

void areas_link(struct areas *areas, size_t to, size_t from) {
    if (areas->slabs) area_objects_clone(areas->slabs, &areas->objects[to], &areas->objects[from]);
}

static size_t add(struct areas *areas, const struct area *area, enum areas_join join, bool *merged) {
    const size_t index = areas_from(areas, area->start);
    struct area *below = index > 0 ? &areas->item[index - 1] : NULL, *above = index < areas->count ? &areas->item[index] : NULL;
    const bool joins_below = join != AREAS_JOIN_NONE && merge_with_below(below, area);
    const bool joins_above = join == AREAS_JOIN_BOTH && merge_with_above(area, above, joins_below ? below : NULL);
    if (merged) *merged = joins_below || joins_above;
    if (joins_below) {
        below->end = joins_above ? above->end : area->end;
        if (joins_above && below->anon == 0) take_anon(areas, below, above);
        if (joins_above) take_out(areas, index, index + 1);
        return index - 1;
    }
    if (joins_above) set_start(above, area->start);
    else insert(areas, index, *area, false);
    return index;
}

size_t areas_add(struct areas *areas, const struct area *area, enum areas_join join, bool *merged) {
    const size_t index = add(areas, area, join, merged);
    areas_report(areas, index);
    return index;
}

static size_t change(struct areas *areas, size_t index, uint64_t start, uint64_t end, uint32_t flags, bool *merged) {
    struct area *area = &areas->item[index];
    struct area changed = {
        start, end, area->offset + (start - area->start), area->file, area->anon, flags, area->chain, area->swap_readahead};
    const bool whole = start == area->start && end == area->end;
    struct area *below = start == area->start && index > 0 ? area - 1 : NULL;
    struct area *above = end == area->end && index + 1 < areas->count ? area + 1 : NULL;
    const bool joins_below = merge_with_below(below, &changed);
    const bool joins_above = merge_with_above(&changed, above, joins_below ? below : NULL);
    if (merged) *merged = joins_below || joins_above;
    if (joins_below && joins_above) {
        below->end = above->end;
        if (below->anon == 0) take_anon(areas, below, above->anon != 0 ? above : area);
        take_out(areas, index, index + 2);
        return index - 1;
    }
    if (joins_below) {
        if (!whole) border(areas, end);
        below->end = end;
        set_start(area, end);
        if (whole) take_out(areas, index, index + 1);
        return index - 1;
    }
    if (joins_above) {
        if (!whole) border(areas, start);
        set_start(above, start);
        area->end = start;
        if (whole) take_out(areas, index, index + 1);
        return whole ? index : index + 1;
    }
    if (area->start < start) split(areas, index++, start);
    if (areas->item[index].end > end) split(areas, index, end);
    areas->item[index].flags = flags;
    return index;
}

size_t areas_change(struct areas *areas, size_t index, uint64_t start, uint64_t end, uint32_t flags, bool *merged) {
    index = change(areas, index, start, end, flags, merged);
    areas_report(areas, index);
    return index;
}

size_t areas_isolate(struct areas *areas, uint64_t start, uint64_t end, size_t *last) {
    size_t first = areas_from(areas, start);
    if (first < areas->count && areas->item[first].start < start) split(areas, first++, start);
    for (*last = first; *last < areas->count && areas->item[*last].start < end; ++*last)
        if (areas->item[*last].end > end) split(areas, *last, end);
    return first;
}

void areas_need_anon(struct areas *areas, size_t index) {
    struct area *area = &areas->item[index];
    if (area->anon != 0) return;
    const struct area *shares = NULL;
    if (index + 1 < areas->count && area[1].chain == 1 && merge_share_anon(area, area + 1)) shares = area + 1;
    else if (index > 0 && area[-1].chain == 1 && merge_share_anon(area - 1, area)) shares = area - 1;
    area->chain = 1;
    area->anon = shares ? shares->anon : ++areas->last_anon;
    if (areas->slabs) area_objects_prepare(areas->slabs, &areas->objects[index], shares ? &areas->objects[shares - areas->item] : NULL);
}
