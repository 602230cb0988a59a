"""Claims rewritten because no result could contradict them: each holds in one world and fails in another.

A world is a change of the synthetic tree (conftest.py): R = 1000 + 2 C, C = 20 M, misses linear in 4KB pages.
"""

from __future__ import annotations

import pandas as pd
import pytest
import yaml

from tessera.report.claims import judged_claims
from tessera.report.evaluators.model_inputs import _rsquared_row

AUTHORS = "mosmodel-authors"
BOTH = ("mosmodel", AUTHORS)
XML, MCF, PR = "xml-transform", "network-simplex", "gapbs-pr-twitter"


def program_l3(ratio):
    """L3 loads with 4KB pages over those with 2MB pages, for the stand-in of xalancbmk only."""

    def change(tree):
        rows = (tree.cells["workload"] == XML) & (tree.cells["layout"] == "growing-0")
        tree.cells.loc[rows, "program_l3_loads"] = ratio * 1e4

    return change


def walker_l3(share):
    def change(tree):
        rows = tree.cells["workload"] == XML
        tree.cells.loc[rows, "walker_l3_loads"] = share * tree.cells.loc[rows, "walker_l1d_loads"]

    return change


def r_squared_of_h(value, printed_as_zero):
    """R^2 of H where Table 8 prints 0, or elsewhere."""
    zero = {
        ("graph500/4GB", "broadwell"), ("xsbench/8GB", "haswell"), ("xsbench/16GB", "haswell"),
        ("xsbench/16GB", "broadwell"), ("gapbs/sssp-twitter", "haswell"), ("gapbs/sssp-web", "haswell"),
        ("gapbs/sssp-web", "broadwell"),
    }  # fmt: skip

    def change(tree):
        keys = [
            (_rsquared_row(w), p.removesuffix("-sim"))
            for w, p in zip(tree.rsquared["workload"], tree.rsquared["platform"], strict=True)
        ]
        named = [(key in zero) == printed_as_zero for key in keys]
        tree.rsquared.loc[(tree.rsquared["input"] == "H") & pd.Series(named), "r_squared"] = value

    return change


def cv(model, error, workloads=None):
    def change(tree):
        rows = (tree.cv["model"] == model) & tree.cv["workload"].isin(workloads or tree.cv["workload"])
        tree.cv.loc[rows, "max_error"] = error

    return change


def slopes(*workloads, slope=0.9):
    """This slope of poly1, on Broadwell only, for all rows but the named ones."""

    def change(tree):
        table = tree.coefficients
        rows = (table["model"] == "poly1") & (table["term"] == "C") & (table["platform"] == "broadwell-sim")
        table.loc[rows & ~table["workload"].isin(workloads), "coefficient"] = slope

    return change


def error(model, protocol, value, workload=None):
    def change(tree):
        rows = (tree.errors["model"] == model) & (tree.errors["protocol"] == protocol)
        tree.errors.loc[
            rows & (tree.errors["workload"] == (workload or tree.errors["workload"])), "max_error"
        ] = value

    return change


def fastest(misses):
    """One mixed layout of the stand-in of mcf is the fastest, with so many misses (all-2MB has 10)."""

    def change(tree):
        rows = (tree.cells["workload"] == MCF) & (tree.cells["layout"] == "sliding-20-3")
        tree.cells.loc[rows, ["runtime_cycles", "stlb_misses"]] = [1100.0, misses]

    return change


def basu(factor, workloads):
    def change(tree):
        rows = (tree.predictions["model"] == "basu") & tree.predictions["workload"].isin(workloads)
        tree.predictions.loc[rows, "predicted_runtime_cycles"] *= factor / 0.5

    return change


def inputs(workloads):
    """Both readings of Mosmodel use M, too, for these; the others use C and H."""

    def change(tree):
        table = tree.coefficients
        rows = table["model"].isin(BOTH) & (table["term"] == "M") & table["workload"].isin(workloads)
        table.loc[rows, "coefficient"] = 1.0

    return change


GUPS = ["gups-8gb", "gups-16gb", "gups-32gb"]
TEN = [
    *GUPS,
    "graph500-2gb",
    "graph500-4gb",
    "graph500-8gb",
    "xsbench-4gb",
    "xsbench-8gb",
    "xsbench-16gb",
    MCF,
]


@pytest.mark.parametrize(
    ("claim", "holds", "fails"),
    [
        ("micro20-extra-l3-loads", program_l3(1.15), program_l3(1.05)),
        ("micro20-extra-l3-loads", program_l3(1.07), program_l3(1.2)),
        ("micro20-walker-reaches-l3", walker_l3(0.7), walker_l3(0.2)),
        ("micro20-walker-reaches-l3", walker_l3(0.3), walker_l3(0.8)),
        ("micro20-h-reaches-zero", r_squared_of_h(0.1, True), r_squared_of_h(0.0, False)),
        ("micro20-cv-54-not-enough", cv(AUTHORS, 0.06, GUPS), cv(AUTHORS, 0.04)),
        ("micro20-cv-54-not-enough", cv(AUTHORS, 0.06, GUPS), cv(AUTHORS, 0.06)),
        ("micro20-table6-mosmodel", cv("mosmodel", 2.87), cv(AUTHORS, 0.06, GUPS)),
        ("opera-xalancbmk-slope", slopes(slope=1.7), slopes(slope=1.2)),
        ("micro20-slope-above-1-exists", slopes(XML, MCF), slopes(XML)),
        ("micro20-max-error-yaniv", error("yaniv", "all", 0.25), error("yaniv", "all", 0.2)),
        ("opera-mcf-all-pages-miss-more", fastest(9), fastest(10)),
        ("opera-xalancbmk-degree-3", cv("poly3", 0.1, [XML]), cv("poly3", 0.2, [XML])),
        ("micro20-1gb-mosmodel", error("yaniv", "1gb", 0.1, PR), error("yaniv", "1gb", 0.02, PR)),
        ("micro20-basu-optimistic-near-zero", basu(1.1, TEN[:9]), basu(1.1, TEN)),
        ("micro20-inputs-per-workload", lambda tree: by_halves(tree), inputs(TEN[:5])),
    ],
)  # fmt: skip
def test_a_wrong_world_contradicts_it(make_tree, tmp_path, claim_entries, claim, holds, fails):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": [entry for entry in claim_entries if entry["id"] == claim]}))
    found = []
    for name, world in (("holds", holds), ("fails", fails)):
        tree = make_tree(tmp_path / name)
        world(tree)
        found += judged_claims(tree.write(), path)["verdict"].tolist()
    assert found == ["HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION"]


def by_halves(tree):
    """Three selections of inputs, none of them for more than half of the 57 pairs."""
    inputs(TEN[:5])(tree)
    table = tree.coefficients
    rows = table["model"].isin(BOTH) & (table["term"] == "H") & table["workload"].isin(TEN[5:])
    table.loc[rows, "coefficient"] = 0.0
