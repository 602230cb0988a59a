#include "vm/merge.h"

static bool same_kind(const struct area *a, const struct area *b) {
    return a->flags == b->flags && a->file == b->file && !(a->flags & AREA_HUGETLB);
}

static bool anon_allows(const struct area *area, const struct area *neighbour) {
    return area->anon == neighbour->anon || (area->anon == 0 && neighbour->chain == 1);
}

static bool continues(const struct area *below, const struct area *above) {
    return below->end == above->start && below->offset + (below->end - below->start) == above->offset;
}

bool merge_with_below(const struct area *below, const struct area *area) {
    return below && continues(below, area) && same_kind(below, area) && anon_allows(area, below);
}

bool merge_with_above(const struct area *area, const struct area *above, const struct area *below) {
    if (!above || !continues(area, above) || !same_kind(area, above) || !anon_allows(area, above)) return false;
    return !below || below->anon == 0 || above->anon == 0 || below->anon == above->anon;
}

bool merge_share_anon(const struct area *below, const struct area *above) {
    return continues(below, above) && below->file == above->file && !(below->flags & AREA_HUGETLB) &&
           ((below->flags ^ above->flags) & ~(uint32_t)AREA_RIGHTS) == 0;
}
