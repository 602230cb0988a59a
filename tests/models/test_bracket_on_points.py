"""The bracket on frozen points of one study of transfer: the counts that docs/results/new-designs.md prints.

`data/transfer` has the tables of a timed run of commit 9fd4e2c8 (three workloads on haswell-sim, simulated).
Members, slopes and widening were chosen on these points, so the counts are exploratory: they say that this
code is what was chosen, not how good it is on other workloads.
"""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tessera.fit.models.registry import create
from tessera.fit.models.samples import check_samples
from tessera.fit.predict.answers import Answer
from tessera.fit.predict.bracket import Bracket, ChangedCounts, ProcessorCounts
from tessera.lab.transfer import rules

DATA = Path(__file__).parent / "data" / "transfer"
SHA256 = {
    "points.csv.gz": "308bd8f38bdcafd4ea88ebb2efa29a82003b7029ad085ef0856928a8c497de71",
    "samples.csv.gz": "7b383bf1c239591e59e3297dd6c6fa26848c173f4a9ee1efbb9391badc168f34",
}
HIT_CYCLES = 7  #: of haswell-sim
ASKED = ("control", "reach", "hit-time", "walk-cost")  #: classes that keep the clock: no queues, no walkers
MODELS = ("mosmodel", "mosmodel-authors")  #: by the input that the study calls `counted`
KEY = ["workload", "group", "variant", "layout"]


def points() -> pd.DataFrame:
    """A row per judged point: busy C, latency H, and the counted H, M, C for the rivals."""
    table = pd.read_csv(DATA / "points.csv.gz")
    table = table[(table["status"] == "ok") & table["judged"].eq(True) & (table["group"] != "ideal")]
    by_input = {name: rows.set_index(KEY) for name, rows in table.groupby("inputs")}
    found = by_input["busy"][["runtime_cycles", "base_runtime_cycles"]].copy()
    found["C"], found["H"] = by_input["busy"]["walk_cycles"], by_input["latency"]["stlb_hits"]
    for symbol, column in (("Hc", "stlb_hits"), ("Mc", "stlb_misses"), ("Cc", "walk_cycles")):
        found[symbol] = by_input["counted"][column]
    return found.reset_index()


@pytest.fixture(scope="module")
def asked() -> pd.DataFrame:
    """The points with the answers, and what three rivals say."""
    samples = pd.read_csv(DATA / "samples.csv.gz")
    rows = []
    for workload, part in points().groupby("workload"):
        mine = samples[samples["workload"] == workload]
        known = check_samples(mine[mine["fitted"]]).fitted
        bracket = Bracket.fit(known, hit_cycles=HIT_CYCLES)
        counted = {"H": part["Hc"], "M": part["Mc"], "C": part["Cc"]}
        guesses = np.column_stack([create(name).fit(known).predict(**counted) for name in MODELS])
        bases = mine.set_index("layout")
        for point, guess in zip(part.itertuples(), guesses, strict=True):
            base = bases.loc[point.layout]
            # a slower look-up delays every miss by the 7 cycles that it takes more
            late = 7.0 * point.Mc if point.variant == "stlb-slower" else 0.0
            walkers = 2 if point.variant == "walkers-x2" else 1
            found = bracket.answer(
                ProcessorCounts(
                    point.base_runtime_cycles, float(base["stlb_hits"]), float(base["walk_cycles"])
                ),
                ChangedCounts(point.H, point.C, walkers, late),
            )
            R, R_0 = point.runtime_cycles, point.base_runtime_cycles
            said = isinstance(found, Answer)
            rows.append({
                "group": point.group, "answered": said and point.group in ASKED,
                "covered": found.low <= R <= found.high,
                "bracket": passes(R_0, R, found.centre if said else float("nan")),
                **{name: passes(R_0, R, float(value)) for name, value in zip(MODELS, guess, strict=True)},
                "constant": passes(R_0, R, R_0),
                "informative": abs(R / R_0 - 1) > rules.BOUND, "codes": () if said else found.codes,
            })  # fmt: skip
    return pd.DataFrame(rows)


def passes(base: float, runtime: float, predicted: float) -> bool:
    """S1 and S2 of docs/explain/transfer.md."""
    bound = rules.bound_holds(runtime, predicted)
    return rules.passes(bound, rules.gain_holds(base, runtime, predicted))


def test_the_points_are_the_frozen_ones():
    for name, digest in SHA256.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == digest


def test_counts(asked):
    answered = asked[asked["answered"]]
    informative = answered[answered["informative"]]
    assert (len(asked), len(answered), int(answered["covered"].sum())) == (1571, 997, 993)
    assert int(answered["bracket"].sum()) == 958
    assert (int(informative["bracket"].sum()), len(informative)) == (186, 225)
    rivals = ("mosmodel", "mosmodel-authors", "constant")
    assert [int(answered[name].sum()) for name in rivals] == [646, 654, 765]
    assert not informative["constant"].any()


def test_counts_by_class(asked):
    answered = asked[asked["answered"]]
    columns = ["answered", "covered", "bracket", "constant", *MODELS]
    found = answered.groupby("group")[columns].sum()
    expected = {
        "control": [33, 33, 33, 33, 33, 33],
        "reach": [311, 310, 306, 221, 103, 105],
        "hit-time": [107, 106, 106, 104, 101, 101],
        "walk-cost": [546, 544, 513, 407, 409, 415],
    }
    assert {group: list(row) for group, row in zip(found.index, found.to_numpy(), strict=True)} == expected


def test_refusals_of_the_classes_asked(asked):
    rest = asked[asked["group"].isin(ASKED) & ~asked["answered"]]
    codes = rest["codes"].explode().value_counts()
    assert dict(codes) == {"wide": len(rest)} and len(rest) == 118
    assert np.all(rest["codes"].map(len) == 1)
