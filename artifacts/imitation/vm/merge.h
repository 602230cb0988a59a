// merge.h - which areas merge.
//
// Linux 6.12: mm/vma.c is_mergeable_vma, is_mergeable_anon_vma, can_vma_merge_before, _after, _left, _right,
// find_mergeable_anon_vma. Flags, file and running offset must be equal; areas of huge pages never merge. An area without `anon` joins a neighbour with one, but
// an area with `anon` does not join a neighbour without: the test of the neighbour's list (list_is_singular) fails for an empty
// list, and for the longer list that a child of a fork has (area.chain).
#pragma once

#include "vm/areas.h"

/// True if `area` can join `below`, which may be NULL.
bool merge_with_below(const struct area *below, const struct area *area);

/// True if `area` can join `above`, which may be NULL. `below` is the area that it joins at the same time, or NULL.
bool merge_with_above(const struct area *area, const struct area *above, const struct area *below);

/// True if `below` and `above`, which touch, can share one `anon`: their flags may differ in rights.
bool merge_share_anon(const struct area *below, const struct area *above);
