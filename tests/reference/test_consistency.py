"""The published numbers against each other: what agrees, and the known defects held fast."""

from __future__ import annotations

import pytest

from tessera.core.reference import load_published, lookup


def counter(name, page_size, agent="program"):
    return lookup("table7_xalancbmk", {"counter": name, "page_size": page_size, "agent": agent})


def test_runtime_shrinks_by_more_than_the_walk_cycles():
    saved = counter("runtime_cycles", "4KB") - counter("runtime_cycles", "2MB")
    assert saved == 165 > counter("walk_cycles", "4KB") == 76


def test_extra_l3_loads():
    extra = counter("l3_loads", "4KB") - counter("l3_loads", "2MB")
    assert extra == pytest.approx(lookup("printed_values", {"quantity": "l3_extra_loads"}))
    assert extra > counter("l3_loads", "4KB", "walker")


def test_walker_loads_shrink_from_level_to_level():
    loads = [counter(f"{level}_loads", "4KB", "walker") for level in ("l1d", "l2", "l3")]
    assert loads == sorted(loads, reverse=True)


def test_both_papers_print_the_same_counters():
    """Rounded to whole billions in one of them; so they are one measurement."""
    keys = ["counter", "agent", "page_size"]
    both = load_published("table7_xalancbmk").merge(load_published("opera_table6_xalancbmk"), on=keys)
    assert len(both) == 18
    assert (both["value_x"] - both["value_y"]).abs().max() <= 0.5


def test_table8_lacks_exactly_one_pair():
    pairs = load_published("table8_rsquared").groupby(["workload", "platform"])["value"]
    assert pairs.ngroups == 56 and (pairs.count() == 3).all()
    assert ("gapbs/bfs-road", "broadwell") not in pairs.groups
    assert load_published("table8_rsquared")["value"].between(0, 1).all()


def test_table8_names_the_workloads_of_table5():
    assert set(load_published("table8_rsquared")["workload"]) == set(
        load_published("table5_workloads")["workload"]
    )


def test_layouts_add_up():
    parts = [lookup("printed_values", {"quantity": f"{h}_layouts"})
             for h in ("growing", "random", "sliding")]  # fmt: skip
    assert sum(parts) == lookup("printed_values", {"quantity": "layouts"}) == 54


@pytest.mark.parametrize("quantity", ["memory", "runtime"])
def test_opera_overheads_agree_within_rounding(quantity):
    half = 0.005 if quantity == "memory" else 0.5
    rows = load_published("opera_table4_overheads").query("quantity == @quantity")
    table = rows.pivot(index="workload", columns="allocator", values="value")
    low = 100 * ((table["mosalloc"] - half) / (table["glibc"] + half) - 1)
    high = 100 * ((table["mosalloc"] + half) / (table["glibc"] - half) - 1)
    assert (low - 0.5 <= table["overhead"]).all() and (table["overhead"] <= high + 0.5).all()


def test_known_defect_cross_validation_is_not_monotone_in_the_degree():
    errors = load_published("table6_cv_errors").set_index("model")["value"]
    assert errors["poly3"] > errors["poly2"]


def test_known_defect_memory_clock_of_the_sandybridge_machine():
    micro = lookup("table3_platforms", {"generation": "sandybridge", "quantity": "memory_clock"})
    opera = lookup("opera_platforms", {"generation": "sandybridge", "quantity": "memory_clock"})
    assert (micro, opera) == (1.6, 1.333)
