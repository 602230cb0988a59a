"""The bounds of a pointer chase: the theorem behind them, and which wrong events they find."""

from __future__ import annotations

import random

import pytest

from tessera.machine.counter_check.known_programs import (
    CHASES,
    FEW,
    FIRST_LOADS,
    LOADS,
    MANY,
    MOST_ENTRIES,
    MOST_FIRST_LEVEL,
    STLB,
    count_bounds,
    judged_bounds,
    least_misses,
)

from . import fakes


def hits_of_a_turn(pages, entries, policy, seed):
    """Hits in each of 6 turns over a random order of pages, after two; a TLB without sets, slowly."""
    rng = random.Random(seed)
    order = rng.sample(range(pages), pages)
    content, hits = [], []
    for _ in range(8):
        hits.append(0)
        for at, page in enumerate(order):
            if page in content:
                hits[-1] += 1
                if policy == "lru":
                    content.remove(page)
                    content.append(page)
                continue
            if len(content) == entries:
                if policy == "lru":
                    content.pop(0)
                elif policy == "random":
                    content.pop(rng.randrange(entries))
                else:  # the best that is possible: drop the page that is used last (Belady)
                    content.remove(max(content, key=lambda p: (order.index(p) - at - 1) % pages))  # noqa: B023
            content.append(page)
    return hits[2:]


@pytest.mark.parametrize("policy", ["lru", "random", "best"])
@pytest.mark.parametrize("pages, entries", [(30, 10), (40, 39), (17, 16)])
def test_a_turn_has_at_most_as_many_hits_as_there_are_entries(policy, pages, entries):
    hits = hits_of_a_turn(pages, entries, policy, seed=pages)
    assert max(hits) <= entries
    if policy == "lru":
        assert hits == [0] * 6
    if policy == "best":  # the bound is not far from what is possible
        assert sum(hits) / 6 >= (entries - 1) * pages / (pages + 1) - 2


def test_the_numbers():
    """1 - 4352/131072 = 0.966796875, of 2 000 000 loads."""
    assert least_misses(131_072) == 1_933_593.75
    assert FIRST_LOADS > 2 * MANY.pages + 1  # chase warms up with as many loads, but not more than it makes
    assert MOST_FIRST_LEVEL < STLB.pages < 512 and FEW.pages < MOST_FIRST_LEVEL < MOST_ENTRIES < MANY.pages
    (bound,) = [b for b in count_bounds(MANY, 10**8, 2) if b.role == "C loads"]
    assert (bound.least, bound.most) == (1_933_593.75, 2 * 10**8)
    (bound,) = [b for b in count_bounds(STLB, 10**7, None) if b.role == "H any"]
    assert bound.least == pytest.approx(900_000)  # 1 - 192/384 - 0.05 = 0.45
    assert [b.most for b in count_bounds(MANY, 10**8, None) if b.role == "C loads"] == [None]


def counts(at, changes, loads):
    per_load = fakes.PER_LOAD | changes
    start = {role: fakes.START.get(role, (0, 0, 0)) for role in per_load}
    return {role: int(per_load[role][at] * loads + start[role][at]) for role in per_load}


def wrong(changes):
    """(role, chase) of the bounds that do not hold, with two walkers."""
    found = set()
    for at, chase in enumerate(CHASES):
        first, second = (counts(at, changes, loads) for loads in (FIRST_LOADS, FIRST_LOADS + LOADS))
        found |= {
            (bound.role, chase.name)
            for bound, _, holds in judged_bounds(chase, first, second, 2)
            if not holds
        }
    return found


def test_a_right_machine_keeps_all_bounds():
    assert wrong({}) == set()


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"M loads": (1, 1, 1)}, {("M loads", "few pages"), ("M loads", "pages of the STLB")}),  # loads
        ({"M loads": (0, 0, 0)}, {("M loads", "many pages")}),
        ({"M loads": (0, 0.84, 0.98)}, {("M loads", "pages of the STLB")}),  # misses of the first TLB
        ({"M loads": (0, 0, 1.97)}, {("M loads", "many pages")}),  # two walks a load
        ({"H loads": (0, 0, 0.98)}, {("H loads", "pages of the STLB"), ("H loads", "many pages")}),
        ({"C loads": (0, 0, 0.5)}, {("C loads", "many pages")}),  # fewer cycles than walks
        ({"C loads": (0, 0, 521)}, {("C loads", "many pages")}),  # more than 2 x 260
        ({"C active loads": (0, 0, 261)}, {("C active loads", "many pages")}),  # more than R
        ({"M stores": (0, 0, 0.98)}, {("M stores", "many pages")}),  # loads in it
        ({"instructions": (0.5, 0.5, 0.5)}, {("instructions", chase.name) for chase in CHASES}),
        ({"R cycles": (20, 11, 260)}, {("R cycles", "few pages")}),
    ],
)
def test_a_wrong_event_is_found(changes, expected):
    assert wrong(changes) == expected


def test_events_of_stores_that_count_nothing_are_found():
    """chase writes 131 072 pages before its loads, of which at most 4352 hit."""
    first = counts(2, {}, FIRST_LOADS) | {"M stores": 126_719}
    second = counts(2, {}, FIRST_LOADS + LOADS) | {"M stores": 126_719}
    bad = [b.role for b, _, holds in judged_bounds(MANY, first, second, 2) if not holds]
    assert bad == ["M stores"]
    first["M stores"] = second["M stores"] = 126_720
    assert all(holds for _, _, holds in judged_bounds(MANY, first, second, 2))
