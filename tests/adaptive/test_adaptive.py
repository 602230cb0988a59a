"""Query by committee: choices by hand, ties as documented, and replay against plain loops."""

import numpy as np
import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.fit.evaluation.adaptive import (
    adaptive_order,
    distances,
    fit_committee,
    layouts_needed,
    next_layouts,
    prediction_spread,
    random_order,
    replay_orders,
    replay_summary,
)
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples

NAMES = [f"growing-{i}" for i in range(9)] + [f"random-{i}" for i in range(15)]


def curved(n=24) -> Samples:
    """R is flat up to C = 2e9 and rises from there: a line and a parabola differ."""
    C = np.linspace(0, 4e9, n)
    order = np.concatenate([[n - 1], np.random.RandomState(1).permutation(np.arange(1, n - 1)), [0]])
    order = [order[0], *order[1:8], order[-1], *order[8:-1]]  # growing-0 is the most C, growing-8 none
    C = C[np.array(order)]
    return Samples(tuple(NAMES[:n]), 4e7 - C / 200, C / 40, C, 5e9 + np.maximum(C - 2e9, 0) ** 2 / 1e9)


def test_the_committee_grows_with_the_layouts():
    s = curved()
    sizes = {2: ["poly1"], 3: ["poly1", "poly2"], 4: ["poly1", "poly2", "poly3"]}
    for n, names in sizes.items():
        assert [m.name for m in fit_committee(s.subset([0, 8, 1, 2][:n]))] == names
    assert [m.name for m in fit_committee(s)] == ["poly1", "poly2", "poly3", "mosmodel"]


def test_disagreement_by_hand():
    """C = 0, 2, 4 with R = 10, 10, 16: the line is 9 + 1.5 C, the parabola 10 - 1.5 C + 0.75 C^2."""
    C = np.array([0.0, 2, 4])
    known = Samples(("a", "b", "c"), 0 * C, 0 * C, C, np.array([10.0, 10, 16]))
    models = [create(name).fit(known) for name in ("poly1", "poly2")]
    at = np.array([0.0, 2, 6])
    found = prediction_spread(models, known, 0 * at, 0 * at, at)
    np.testing.assert_allclose(found, np.array([1.0, 2.0, 10.0]) / 12)
    assert list(prediction_spread(models[:1], known, at, at, at)) == [0, 0, 0]


def test_the_largest_disagreement_comes_first():
    C = np.array([0.0, 2, 4])
    known = Samples(("a", "b", "c"), 0 * C, 0 * C, C, np.array([10.0, 10, 16]))
    at = np.array([0.0, 1, 6, 3])
    pool = Samples(("w", "x", "y", "z"), 0 * at, 0 * at, at, np.full(4, np.nan))
    chosen = next_layouts(known, pool, ("poly1", "poly2"))
    assert chosen[0].layout == "y" and chosen[0].disagreement == pytest.approx(10 / 12)
    assert chosen[-1].layout == "w" and chosen[-1].distance == 0  # its C has run already


def test_ties_go_to_the_farthest_then_to_the_first_name():
    """Two layouts determine the line alone: no disagreement, so distance decides, then the name."""
    C = np.array([0.0, 4])
    known = Samples(("a", "b"), 0 * C, 0 * C, C, np.array([10.0, 14]))
    at = np.array([1.0, 2, 3, 2])
    pool = Samples(("near", "z-middle", "close", "b-middle"), 0 * at, 0 * at, at, np.full(4, np.nan))
    assert [c.layout for c in next_layouts(known, pool)] == ["b-middle", "z-middle", "close", "near"]


def test_distances_in_shares_of_the_ranges():
    known = Samples(("a", "b"), np.array([0.0, 10]), np.zeros(2), np.array([0.0, 1000]), np.ones(2))
    pool = Samples(("c",), np.array([5.0]), np.zeros(1), np.array([1000.0]), np.ones(1))
    assert distances(known, pool) == pytest.approx([0.5])


def test_orders_are_permutations_that_keep_their_start():
    s = curved()
    for order in (adaptive_order(s, [0, 8]), random_order(s, [0, 8], 3)):
        assert order[:2] == [0, 8] and sorted(order) == list(range(24))
    assert random_order(s, [0, 8], 3) == random_order(s, [0, 8], 3) != random_order(s, [0, 8], 4)


def test_runtimes_of_candidates_are_not_read():
    s = curved()
    known, rest = s.subset([0, 8, 1, 2]), s.subset([3, 4, 5, 6, 7])
    blind = Samples(rest.layouts, rest.H, rest.M, rest.C, np.full(5, np.nan))
    assert next_layouts(known, rest) == next_layouts(known, blind)


def test_replay_is_a_plain_loop():
    s = curved()
    curve = replay_orders(s, "poly3", seeds=2)
    assert len(curve) == 3 * 23 and set(curve["order"]) == {"adaptive", "random"}
    mine = curve[curve["seed"] == 1].sort_values("layouts")
    order = random_order(s, [0, 8], 1)
    assert list(mine["layout"])[1:] == [s.layouts[row] for row in order[2:]]
    for count, error in zip(mine["layouts"], mine["max_error"], strict=True):
        rows = order[:count]
        if count < 4:
            assert np.isnan(error)
            continue
        cubic = np.polyfit(s.C[rows] / 4e9, s.R[rows], 3)
        assert error == pytest.approx(np.abs(np.polyval(cubic, s.C / 4e9) / s.R - 1).max(), rel=1e-6)


def test_every_order_ends_at_the_same_error():
    ends = replay_orders(curved(), "mosmodel", seeds=3).query("layouts == 24")["max_error"]
    assert len(ends) == 4 and ends.nunique() == 1


def test_reached_and_held_by_hand():
    run = pd.DataFrame({"layouts": [2, 3, 4, 5, 6], "max_error": [np.nan, 0.1, 0.3, 0.2, 0.1]})
    assert layouts_needed(run, 0.1) == (3, 6)
    assert layouts_needed(run, 0.2) == (3, 5)
    assert layouts_needed(run, 0.3) == (3, 3)


def test_summary_counts_orders():
    counted = replay_summary(replay_orders(curved(), "poly2", seeds=4)).set_index(["order", "slack"])
    assert set(counted["orders"]) == {1, 4} and set(counted["total_layouts"]) == {24}
    for order in ("adaptive", "random"):
        held = counted.loc[order, "held_median"]
        assert list(held) == sorted(held, reverse=True)  # more slack never needs more layouts


@pytest.mark.parametrize(
    "known, pool, code",
    [([0, 8], [], "empty-pool"), ([], [1], "no-runs")],
    ids=["known0-pool0-no candidates", "known1-pool1-no layout has run"],
)
def test_refusals(known, pool, code):
    s = curved()
    with pytest.raises(TesseraError) as error:
        next_layouts(s.subset(known), s.subset(pool))
    assert error.value.code == code


def test_a_table_that_does_not_determine_the_model_is_refused():
    with pytest.raises(TesseraError, match="5 samples"):
        replay_orders(curved().subset([0, 8, 1, 2, 3]), seeds=1)
