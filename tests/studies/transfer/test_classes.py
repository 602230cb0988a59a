"""The registry of variants, the class of a user's design, and what H and C count."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.lab.transfer import classes, runs
from tessera.lab.transfer.classes import (
    GROUPS,
    MAPPINGS,
    STLB,
    VARIANTS,
    WALK,
    changed,
    chosen,
    families_of,
    groups_of,
)
from tessera.lab.transfer.ladder import LADDERS, ladder_rows, steps_of
from tessera.lab.transfer.points import BUSY, COUNTED, LATENCY, declared
from tessera.lab.transfer.runs import Cell

P = platforms.load_platform("haswell-sim")


def test_every_variant_is_a_valid_platform_on_every_simulated_platform():
    for name in ("sandybridge-sim", "haswell-sim", "broadwell-sim"):
        base = platforms.load_platform(name)
        for variant in VARIANTS:
            made = changed(base, variant.changes(base))
            same = {k for k in base.values if made.values[k].value == base.values[k].value}
            assert variant.name == "new-layouts" or len(same) < len(made.values), variant.name
    assert {v.group for v in VARIANTS} == set(GROUPS)
    assert len({v.name for v in VARIANTS}) == len(VARIANTS)


def test_names_and_classes_are_chosen_and_wrong_ones_are_named():
    assert [v.name for v in chosen(["invisible"])] == ["walkers-x2", "mshrs-flipped", "no-pollution"]
    assert [v.name for v in chosen(names=["thp"])] == ["thp"]
    with pytest.raises(TesseraError, match="K9"):
        chosen(["K9"])
    with pytest.raises(TesseraError, match="stlb-x3"):
        chosen(names=["stlb-x3"])


@pytest.mark.parametrize(
    ("changes", "groups"),
    [
        ({}, ["control"]),
        ({"tlb.stlb.entries": 1024}, ["control"]),  # what haswell-sim has
        ({"tlb.stlb.entries": 4096}, ["reach"]),
        ({"tlb.stlb.hit_cycles": 9}, ["hit-time"]),
        ({"walker.count": 2}, ["invisible"]),
        ({"walker.begin_cycles": 22}, ["walk-cost"]),
        ({"pwc.pde.entries": 8, "walker.count": 2}, ["invisible", "walk-cost"]),
        ({"mmu.design": "anchor"}, ["reach", "hit-time"]),  # anchors take 8 cycles, the STLB of haswell-sim 7
        ({"mmu.design": "anchor", "design.anchor.anchor_cycles": 7}, ["reach"]),
        ({"mmu.design": "direct-segment"}, ["reach"]),
        ({"mmu.design": "hvc-delayed-tlb", "design.hvc-delayed-tlb.entries": 2048}, ["behind-l3"]),
    ],
)
def test_the_class_of_a_design(changes, groups):
    assert groups_of(P, changes) == (groups, [])


def test_a_design_with_another_cache_is_in_no_class():
    assert groups_of(P, {"cache.l2.ways": 4}) == ([], ["cache.l2.ways=4"])
    assert groups_of(P, {"cache.l2.ways": 4, "walker.count": 2}) == (["invisible"], ["cache.l2.ways=4"])
    assert groups_of(P, {"mmu.design": "mine"}) == ([], ["mmu.design=mine"])


def test_variants_are_in_the_class_that_their_changes_say():
    for variant in VARIANTS:
        if variant.name not in ("new-layouts", "noop", "thp"):
            found, unknown = groups_of(P, variant.changes(P))
            assert variant.group in found and not unknown, variant.name


def row(H, M, C):
    return {"stlb_hits": H, "stlb_misses": M, "walk_cycles": C}


def structure(name, hits, lookup, background=None):
    return {
        "structure": name, "accesses": 0, "hits": hits, "lookup_cycles": lookup,
        "background_cycles": background,
    }  # fmt: skip


def test_without_structures_latency_scales_hits_by_the_hit_time():
    slower = changed(P, {"tlb.stlb.hit_cycles": 14})
    found = declared(row(100, 5, 300), [], slower, P)
    assert tuple(found[COUNTED]) == (100, 5, 300) == tuple(found[BUSY])
    assert tuple(found[LATENCY]) == (200, 5, 300)


def test_latency_of_anchors_counts_each_hit_with_its_own_time():
    """60 regular hits of 7 cycles, 40 anchor hits of 8, 5 misses of 8: 420 + 320 cycles of hits."""
    anchor = changed(P, {"mmu.design": "anchor"})
    parts = [
        structure("regular", 60, 105 * 7),
        structure("anchor", 40, 45),  # the eighth cycle of hits and misses
        structure("background", 1, None, 900),
    ]
    found = declared(row(100, 5, 300), parts, anchor, P)
    assert found[LATENCY].H == pytest.approx((60 * 7 + 40 * 8) / 7)
    assert found[BUSY].C == 1200 and found[LATENCY].C == 300


def test_latency_of_segments_subtracts_searches_that_missed():
    """10 look-ups of the segment cache, 4 hits; 6 searches of 10 cycles, 1 of them a miss."""
    segments = changed(P, {"mmu.design": "hvc-many-segment"})
    parts = [
        structure("segment-cache", 4, 10) | {"accesses": 10},
        structure("index-cache", 5, 18) | {"accesses": 6},
        structure("segment-table", 6, 42) | {"accesses": 6},
    ]
    found = declared(row(9, 1, 50), parts, segments, P)
    assert found[LATENCY].H == pytest.approx((4 * 1 + 5 * 11) / 7)


def test_units_follow_each_other_and_begin_after_the_warm_up():
    made = runs.cut_into_units(np.array([0, 100, 180, 300]), np.array([500, 500, 500, 480]), 400, 1)
    lines = made.plan.text.splitlines()[1:]
    assert lines == ["0,100,500,1", "180,0,500,1", "300,0,480,1"]
    assert (made.count, made.warm_accesses, made.accesses) == (3, 100, 400)
    with pytest.raises(TesseraError, match="400 accesses"):
        runs.cut_into_units(np.array([0, 100]), np.array([5, 5]), 400, 1)


def test_steps_without_a_key_are_part_of_the_next(monkeypatch):
    from tessera.lab.transfer import ladder

    known = {key: 0 for key in (*P.values, ladder.SERVES)}
    monkeypatch.setattr(ladder, "all_keys", lambda: known)
    assert [what for what, _ in steps_of("anchor-8", P)] == ["contents", "background loads", "hit time"]
    del known[ladder.SERVES]
    assert [what for what, _ in steps_of("anchor-8", P)] == ["contents and background loads", "hit time"]
    assert all(steps_of(name, P)[-1][1] for name in LADDERS)


def cell(runtime, status="ok"):
    if status != "ok":
        return Cell("medium", status, "no segments")
    return Cell("medium", "ok", "", row(1, 2, 3) | {"runtime_cycles": runtime, "instructions": 9})


def test_steps_sum_to_the_gap_and_a_rejected_end_has_none():
    cells = [("P", {}, cell(100)), ("contents", {"a": 1}, cell(70)), ("place", {"b": 2}, cell(90))]
    rows = ladder_rows("x", "medium", cells, sum)
    assert [r["step_cycles"] for r in rows] == [0, -30, 20]
    assert {r["gap_cycles"] for r in rows} == {-10} and rows[0]["predicted_cycles"] == 6
    rows = ladder_rows("x", "medium", [*cells[:2], ("place", {}, cell(0, "refused"))], sum)
    assert "step_cycles" not in rows[2] and rows[1]["gap_cycles"] is None


def test_variants_under_mappings_are_designs():
    assert all("mmu.design" in v.changes(P) for v in VARIANTS if v.under == MAPPINGS)
    assert classes.text_of_changes({"a": 1, "b": "x"}) == "a=1 b=x"


@pytest.mark.parametrize(
    "variant", [v for v in VARIANTS if v.group in ("reach", "walk-cost")], ids=lambda v: v.name
)
def test_a_variant_asked_as_a_design_has_its_family(variant):
    assert families_of(P, variant.changes(P)) == {variant.family}


def test_families_of_no_change_and_of_two():
    entries = P.values["tlb.stlb.entries"].value
    assert families_of(P, {}) == families_of(P, {"tlb.stlb.entries": entries}) == set()
    assert families_of(P, {"tlb.stlb.entries": 2 * entries, "walker.load_adds_cycles": 9}) == {STLB, WALK}
