"""Claims about Park's chapter 2: on small hand-made tables, each holds in one and fails in another."""

from __future__ import annotations

import pytest

VALUES = ("subject", "quantity", "mapping", "printing")


def values(*rows):
    """Rows (subject, quantity, value[, unit]) of ``park_values``, each printed once and about no mapping."""
    return {"park_values": (VALUES, [(row[0], row[1], "", "first", *row[2:]) for row in rows])}


def synonyms(*printed):
    """Two workloads: 100 - 10.06 - 0.5 = 89.44 and 100 - 0 - 0.01 = 99.99 percent."""
    keys = ("workload", "quantity")
    return {
        "park_table21_shared_memory": (keys, [("a", "shared_access", 10.06), ("b", "shared_access", 0)]),
        "park_table22_synonym_filter": (
            keys,
            [("a", "false_positive", 0.5), ("b", "false_positive", 0.01)]
            + [(w, "tlb_access_reduction", v) for w, v in zip("ab", printed, strict=True)],
        ),
    }


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [((89.4, 99.9), "CONSISTENT"), ((89.4, 100.0), "CONTRADICTED"), ((89.5, 99.9), "CONTRADICTED")],
)
def test_saved_accesses_are_cut_not_rounded(judge_printed, printed, verdict):
    found = judge_printed("park-tlb-access-reduction", synonyms(*printed))
    assert found == (verdict, "a=89.4 b=99.9")


@pytest.mark.parametrize(("least", "verdict"), [(99.0, "CONSISTENT"), (98.9, "CONTRADICTED")])
def test_all_but_one_workload_save_99_percent(judge_printed, least, verdict):
    saved = {"ferret": 99.5, "apache": least, "postgres": 80.0}
    rows = [(name, "tlb_access_reduction", value) for name, value in saved.items()]
    tables = {"park_table22_synonym_filter": (("workload", "quantity"), rows)}
    tables |= values(("all but postgres", "tlb_access_reduction", 99))
    assert judge_printed("park-tlb-access-99", tables) == (verdict, f"{least:g}")


@pytest.mark.parametrize(("most", "verdict"), [(0.49, "CONSISTENT"), (0.51, "CONTRADICTED")])
def test_false_positives_have_a_bound(judge_printed, most, verdict):
    rows = [("a", "false_positive", 0.1), ("b", "false_positive", most)]
    tables = {"park_table22_synonym_filter": (("workload", "quantity"), rows)}
    tables |= values(("all", "false_positive", 0.5))
    assert judge_printed("park-false-positive-bound", tables) == (verdict, f"{most:g}")


@pytest.mark.parametrize(("fourth", "verdict"), [(83.2, "CONSISTENT"), (84.7, "CONTRADICTED")])
def test_the_range_of_unused_memory_is_that_of_four_applications(judge_printed, fourth, verdict):
    usage = [(name, "usage", share) for name, share in zip("abcde", (24.8, 70, 80, fourth, 99), strict=True)]
    tables = {"park_table23_segments": (("workload", "quantity"), usage)}
    tables |= values(("four", "unused_low", 17), ("four", "unused_high", 75))
    text = f"unused_low={100 - fourth:g} unused_high=75.2"
    assert judge_printed("park-unused-memory", tables) == (verdict, text)


@pytest.mark.parametrize(
    ("segments", "levels", "verdict"),
    [(7, 1, "CONSISTENT"), (8, 2, "CONSISTENT"), (343, 3, "CONSISTENT"), (344, 3, "CONTRADICTED")],
)
def test_a_level_multiplies_the_segments_by_seven(judge_printed, segments, levels, verdict):
    rows = (("index tree", "values_of_a_node", 7), (f"{segments} segments", "index_tree_depth", levels))
    obtained = levels + (verdict == "CONTRADICTED")
    assert judge_printed("park-index-tree-depth", values(*rows)) == (
        verdict,
        f"{segments} segments={obtained}",
    )


@pytest.mark.parametrize(("estimate", "verdict"), [(17, "CONSISTENT"), (19, "CONTRADICTED")])
def test_latency_of_many_segments(judge_printed, estimate, verdict):
    """Three levels of 4 cycles and a table of 5."""
    who = "2048 segments"
    parts = {
        "index_tree_depth": 3,
        "index_cache_latency": 4,
        "segment_table_latency": 5,
        "estimate": estimate,
    }
    tables = values(*((who, quantity, value) for quantity, value in parts.items()))
    assert judge_printed("park-many-segment-latency", tables) == (verdict, "17")


@pytest.mark.parametrize(("size", "verdict"), [(64, "CONSISTENT"), (80, "CONTRADICTED")])
def test_storage_of_many_segments(judge_printed, size, verdict):
    """2048 segments of 24 bytes are 48 KB; beside a cache of 16 KB."""
    tables = values(("2048 segments", "index_cache", 16), ("segment table and index cache", "size", size))
    assert judge_printed("park-segment-storage", tables) == (verdict, "64")


@pytest.mark.parametrize(("levels", "loads", "verdict"), [(5, 35, "CONSISTENT"), (5, 25, "CONTRADICTED")])
def test_loads_of_a_nested_walk(judge_printed, levels, loads, verdict):
    tables = values(("native", "walk_loads", levels), ("virtualized", "walk_loads", loads))
    assert judge_printed("park-nested-walk-loads", tables) == (verdict, "35")


@pytest.mark.parametrize(("factor", "verdict"), [(8, "CONSISTENT"), (9, "CONTRADICTED")])
def test_growth_of_the_address_space(judge_printed, factor, verdict):
    bits = (("4-level", "user_address_bits", 10), ("5-level", "user_address_bits", 13))
    tables = values(*bits, ("5-level", "va_depletion_factor", factor))
    assert judge_printed("park-address-space-growth", tables) == (verdict, "8")


def lifetimes(apache_days):
    years = [
        ("postgresql", "va_depletion_48bit", 2, "years"),
        ("memcached", "va_depletion_48bit", 4, "years"),
    ]
    days = ("apache", "va_depletion_48bit", apache_days, "days")
    return values(("4-level", "user_address_bits", 40), *years, days, ("all", "flush_interval", 1))


@pytest.mark.parametrize(
    ("days", "verdict", "rate"),
    [
        # 2^40 bytes in 2 and 4 years of 31,557,600 s, and in 100 and 1000 days of 86,400 s
        (100, "CONSISTENT", "127.258"),
        (1000, "CONTRADICTED", "12.7258"),
    ],
)
def test_rates_follow_from_lifetimes(judge_printed, days, verdict, rate):
    found = judge_printed("park-address-space-rates", lifetimes(days))
    assert found == (verdict, f"apache={rate} postgresql=17.4207 memcached=8.71036")


@pytest.mark.parametrize(
    ("days", "verdict", "years"), [(308, "CONSISTENT", "0.843258"), (100, "CONTRADICTED", "0.273785")]
)
def test_the_shortest_lifetime_is_about_a_year(judge_printed, days, verdict, years):
    assert judge_printed("park-flush-interval", lifetimes(days)) == (verdict, years)
