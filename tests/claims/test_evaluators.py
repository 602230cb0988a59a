"""Evaluators on the synthetic tree, against numbers worked out by hand.

The tree: misses 10 + 1000 (1 - pages / 80), C = 20 M, R = 1000 + 2 C; the 1GB layout is like all-2MB.
"""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.report.claims.claim import Claim, Missing, Scope, Tolerance
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import find_evaluator

R4, R2 = 1000 + 40 * 1010, 1000 + 40 * 10  #: runtimes of all-4KB and all-2MB
GUPS = Scope(("gups-8gb",), ("sandybridge",))
EVERY = Scope(("gups-8gb", "graph500-2gb", "gapbs-pr-twitter"), ("sandybridge", "haswell", "broadwell"))


def run(tree, name, parameters, scope=EVERY, hardware_class="intel-pmu"):
    tree.write()
    tolerance = Tolerance("exact", 0, "test")
    claim = Claim("x", "micro20", "I", "s", "finding", 0.0, "t", "1", tolerance, name,
                  parameters, scope, hardware_class)  # fmt: skip
    return find_evaluator(name, parameters)(claim, Evidence(tree.path), **parameters).value


def pairs(formula, how, **more):
    """Name and parameters of the evaluator of a formula of each pair."""
    return "over_pairs", {"formula": formula, "how": how, **more}


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("max_error", {"model": "basu", "how": "max"}, 192),
        ("geomean_error", {"model": "mosmodel", "how": "median"}, 0.3),
        (*pairs('max(error["alam"], error["yaniv"])', "max"), 111),
        ("max_error_rank", {"model": "poly3", "models": ["poly1", "poly3", "mosmodel"]}, 2),
        ("orders_better", {"model": "mosmodel", "others": ["yaniv"]}, 1.2218487496),
        ("platform_error_ratio", {"models": ["basu"], "platform": "broadwell"}, 1),
        ("error_1gb_ratio", {"model": "yaniv", "base": "mosmodel"}, 25 / 1.5),
        ("cv_max_error", {"model": "poly2", "folds": 6}, 19.1),
        ("cv_rank", {"model": "mosmodel", "models": ["poly1", "mosmodel"], "folds": 6}, 1),
        ("cv_over_all", {"models": ["poly1", "mosmodel"], "folds": 6}, 1.4),
        ("rsquared", {"inputs": ["C", "H"]}, {"C": 0.99, "H": 0.5}),
        ("rsquared_rank", {"input": "M"}, 2),
        ("best_inputs", {}, 1),
        ("correlation", {"first": "walk_cycles", "second": "stlb_misses", "how": "median"}, 1),
        (*pairs('coefficient["poly1", "C"]', "max"), 2),
        (*pairs('coefficient["poly2", "C^2"]', "min"), 1e-4),
        (*pairs('coefficient["basu", "1"] / runtime_cycles["growing-0"]', "max"), -5 / R4),
        (*pairs('walk_cycles["growing-0"] / runtime_cycles["growing-0"]', "max"), 20200 / R4),
        (*pairs('stlb_misses["growing-8"] / stlb_misses["growing-0"]', "max"), 10 / 1010),
        (*pairs('max(stlb_misses["growing-8"], stlb_misses["1gb"]) / stlb_misses["growing-0"]', "max"),
         10 / 1010),
        (*pairs('program_l3_loads["growing-0"] / program_l3_loads["growing-8"]', "min"), 2),
        ("miss_ratio_within_reach", {"layout": "growing-8", "base": "growing-0", "entries": 80},
         10 / 1010),
        (*pairs('abs(100 * (1 - runtime_cycles["1gb"] / runtime_cycles["growing-0"]))', "min",
                insensitive=True), 100 * (1 - R2 / R4)),
        (*pairs('100 * (1 - runtime_cycles["growing-8"] / runtime_cycles["growing-0"])', "min"),
         100 * (1 - R2 / R4)),
        ("loss_against_fastest", {"layout": "growing-0", "how": "max"}, 100 * (R4 / R2 - 1)),
        ("loss_against_fastest", {"layout": "1gb", "how": "max"}, 0),
        ("layout_over_fastest", {"column": "stlb_misses", "layout": "growing-8", "how": "max"}, 1),
        ("layout_over_fastest", {"column": "stlb_misses", "layout": "growing-0", "how": "max"}, 101),
        ("least_over_fastest", {"column": "walk_cycles", "how": "max"}, 1),
        ("predictions_differ", {"first": "gandhi", "second": "pham", "layout": "1gb", "how": "max"}, 30),
        (*pairs('error_1gb["yaniv"] >= bad and error_1gb["mosmodel"] <= good', "sum",
                numbers={"good": 2, "bad": 10}), 9),
        (*pairs('error_1gb["yaniv"] >= bad and error_1gb["mosmodel"] <= good', "sum",
                numbers={"good": 1, "bad": 10}), 0),
        (*pairs('walker_l3_loads["growing-0"] / walker_l1d_loads["growing-0"]', "median"), 1 / 4),
        ("cv_share_above", {"model": "poly2", "folds": 6, "above_percent": 19}, 100),
        ("cv_share_above", {"model": "poly2", "folds": 6, "above_percent": 19.2}, 0),
        ("workloads_above_slope", {"model": "poly1", "above": 1.9}, 3),
        ("workloads_above_slope", {"model": "poly1", "above": 2}, 0),
        (*pairs('error_1gb["yaniv"] - error_1gb["mosmodel"]', "median"), 23.5),
        ("sensitivity_ratio", {"layout": "1gb", "platform": "sandybridge", "base": "broadwell"}, 1),
        (*pairs('100 * (abs(runtime_cycles["1gb"] / runtime_cycles["growing-8"] - 1) <= near)', "mean",
                numbers={"near": 0.05}), 100),
        ("loss_of_all_large_pages", {"layout": "growing-8", "how": "max"},
         100 * (R2 / (1000 + 40 * (10 + 1000 * 3 / 80)) - 1)),
        (*pairs('100 * pages_2mb["sliding-80-0"] / pages_2mb["growing-8"]', "max"), 80),
        ("diversity_ratio", {"bins": 10, "how": "median"}, 4),
        ("random_near_anchors", {"tenths": 1, "how": "min"}, 100),
        ("optimism_at_fewest_misses", {"model": "basu", "how": "max"}, 50),
        ("optimistic_pairs", {"model": "pham"}, 100),
        ("optimistic_pairs", {"model": "alam"}, 0),
        ("runtime_over_prediction", {"model": "gandhi", "layout": "1gb", "how": "max"}, 1 / 0.6),
        ("prediction_excess", {"model": "alam", "layout": "growing-0", "how": "max"}, 18),
    ],
)  # fmt: skip
def test_value(tree, name, parameters, expected):
    assert run(tree, name, parameters) == pytest.approx(expected, rel=1e-6)


def scale(column, layout, factor):
    def change(tree):
        rows = tree.cells["layout"] == layout
        tree.cells.loc[rows, column] = tree.cells.loc[rows, column] * factor

    return change


def assign(table, condition, column, value):
    def change(tree):
        frame = getattr(tree, table)
        frame.loc[frame.eval(condition), column] = value

    return change


@pytest.mark.parametrize(
    ("name", "parameters", "change", "good", "bad"),
    [
        ("nonzero_coefficients", {"model": "mosmodel"},
         assign("coefficients", "model == 'mosmodel' and term == 'M'", "coefficient", 1.0), 2, 3),
        ("anchor_error", {"anchors": {"basu": ["growing-0"]}},
         scale("runtime_cycles", "growing-0", 2.0), 0, 0.5),
        ("geomean_over_max", {}, assign("errors", "model == 'basu'", "geomean_error", 3.84), 0.2, 2),
        ("samples_in_excess", {}, assign("errors", "model == 'basu'", "samples", 55), 0, 1),
        ("hybrid_pairs_fitted", {},
         assign("cells", "workload == 'gups-8gb'", "runtime_provenance", "measured"), 0, 3),
        ("translations_per_access", {}, assign("cells", "layout == 'growing-0'", "accesses", 755),
         0.0151, 2),
        ("smallest_walk_cycles", {}, assign("cells", "layout == 'growing-1'", "walk_cycles", -1),
         200, -1),
        ("walk_references", {"layout": "growing-0"},
         scale("walker_l1d_loads", "growing-0", 5.0), 1, 5),
        ("cache_levels_not_nested", {}, scale("walker_l2_loads", "growing-3", 3.0), 0, 9),
        ("unexplained_cells", {}, assign("cells", "layout == '1gb'", "status", "failed"), 0, 9),
    ],
)  # fmt: skip
def test_rules_of_our_own_data(tree, name, parameters, change, good, bad):
    assert run(tree, name, parameters, Scope()) == pytest.approx(good)
    change(tree)
    assert run(tree, name, parameters, Scope()) == pytest.approx(bad)


def test_layout_rules(tree):
    tree.write()
    folder = tree.path / "layouts" / "gapbs-pr-twitter" / "haswell-sim"
    assert run(tree, "layout_count", {}) == 54
    assert run(tree, "growing_ends_wrong", {}) == 0
    assert run(tree, "file_pool_windows", {}) == 0
    (folder / "growing-0.csv").write_text("type,pageSize,startOffset,endOffset\nfile,2097152,0,2097152\n")
    table = tree.manifest().iloc[:-5]
    table.loc[table["layout"] == "growing-0", "pages_2mb"] = 1
    table.loc[10:, "duplicate_of"] = "random-0"
    table.to_csv(folder / "manifest.csv", index=False)
    evidence = Evidence(tree.path)
    for name, expected in (
        ("layout_count", 50), ("growing_ends_wrong", 1), ("file_pool_windows", 1),
    ):  # fmt: skip
        assert find_evaluator(name, {})(None, evidence).value == expected
    rule = find_evaluator("unexplained_duplicates", {"enough": 45})
    assert rule(None, evidence, enough=45).value == 1
    (folder / "note.txt").write_text("too few pages\n")
    assert rule(None, evidence, enough=45).value == 0


def test_nested_squared_errors_notice_a_parabola_worse_than_the_line(tree):
    models = {"models": ["poly1", "poly2", "poly3"]}
    assert run(tree, "nested_squared_errors", models) <= 1
    rows = tree.predictions["model"] == "poly3"
    tree.predictions.loc[rows, "predicted_runtime_cycles"] *= 1.1
    assert run(tree, "nested_squared_errors", models) > 1


def test_host_tables(tree):
    tree.write()
    host = tree.path / "host"
    host.mkdir()
    rows = tree.cells[tree.cells["layout"] == "growing-0"].head(2).copy()
    rows["workload"], rows["repeat"] = "gups-8gb", [0, 1]
    rows["runtime_ns"], rows["runtime_provenance"] = [90.0, 110.0], "measured"
    rows.to_csv(host / "cells.csv", index=False)
    assert run(tree, "host_variation", {}) == pytest.approx(14.142, rel=1e-3)
    mb = 1 << 20
    pd.DataFrame(
        [
            ("gups-8gb", "glibc", 0, 100 * mb, 50, "measured"),
            ("gups-8gb", "mosalloc", 0, 101 * mb, 51, "measured"),
        ],
        columns=["workload", "allocator", "pair", "memory_bytes", "cpu_ns", "provenance"],
    ).to_csv(host / "allocator.csv", index=False)
    assert run(tree, "allocator_extra_memory", {"how": "max"}) == pytest.approx(1)
    assert run(tree, "allocator_overhead", {"quantity": "memory", "how": "max"}) == pytest.approx(1)
    assert run(tree, "allocator_overhead", {"quantity": "runtime", "how": "mean"}) == (pytest.approx(2))


@pytest.mark.parametrize(
    ("name", "parameters", "reason"),
    [
        ("cv_max_error", {"model": "poly1", "folds": 6, "samples_from": 100}, "54 samples"),
        ("cv_max_error", {"model": "poly1", "folds": 7}, "folds 7"),
        ("max_error", {"model": "poly9", "how": "max"}, "model poly9"),
        (*pairs('runtime_ns["growing-0"]', "max"), "no runtime_ns"),
        (*pairs('runtime_cycles["absent"]', "max"), "layout absent is missing"),
        (*pairs('1 / pages_2mb["growing-0"]', "max"), "gups-8gb on sandybridge-sim: a divisor is zero"),
        (*pairs('pages_2mb["absent"]', "max"), "layout absent is not in the manifest"),
        pytest.param("miss_ratio_within_reach", {"layout": "growing-8", "base": "growing-0", "entries": 79},
                     " 79 ", id="miss_ratio_within_reach-parameters5-no footprint is within the reach of 79"),
        pytest.param("host_variation", {}, "host/cells.csv ",
                     id="host_variation-parameters6-host/cells.csv is not among the results"),
        ("unavailable", {"missing": "a PMU", "command": "./run measure"}, "./run measure"),
    ],
)  # fmt: skip
def test_missing_inputs_say_what_is_missing(tree, name, parameters, reason):
    with pytest.raises(Missing) as missing:
        run(tree, name, parameters, GUPS)
    assert reason in str(missing.value)


def test_rows_of_table_8_are_found_by_what_the_workloads_say(tree):
    """Three workloads on three machines; C is 0.99 everywhere, and so is what Table 8 prints within 0.15."""
    assert run(tree, "rsquared_rows_within", {"input": "C", "within": 0.15}) == 100
    tree.rsquared.loc[tree.rsquared["workload"] == "gups-8gb", "r_squared"] = 0.1
    assert run(tree, "rsquared_rows_within", {"input": "C", "within": 0.15}) == pytest.approx(100 * 6 / 9)


def test_platform_files_are_compared_entry_by_entry(tree, monkeypatch):
    from tessera.core import platforms
    from tessera.report.evaluators import real_machines

    table = {"table": "table4_tlbs"}
    assert run(tree, "platform_mismatches", table) == 0
    # Broadwell in the place of Haswell: 4KB, 2MB and 1GB entries of the second level, and the walkers.
    real = platforms.load_platform
    swap = {"haswell-sim": "broadwell-sim"}
    monkeypatch.setattr(real_machines.platforms, "load_platform", lambda name: real(swap.get(name, name)))
    assert run(tree, "platform_mismatches", table) == 4
