"""Errors, skills and ranks against values worked out by hand."""

import pandas as pd
import pytest

from tessera.lab.validation import mosaics

LAYOUTS = ["growing-0", "growing-4", "growing-8"]


def compared(*deltas):
    return pd.DataFrame(
        {
            "layout": LAYOUTS,
            "measured_delta": deltas,
            "measured_ci95": 0.001,
            "simulated_delta": 0.0,
            "pairs": 5,
        }
    )


def cells(runtimes, walks=(1000, 400, 0)):
    return pd.DataFrame(
        {"layout": LAYOUTS, "status": "ok", "runtime_cycles": runtimes, "walk_cycles": walks, "platform": "p"}
    )


def summary(judged, ranks=(0, 0)):
    table = mosaics.mosaics_summary(judged, "p", ranks, "because")
    return table.set_index("quantity")


def test_errors_are_shares_of_the_measured_gain():
    judged = mosaics.mosaic_rows(compared(0, -0.10, -0.20), cells([100, 95, 82]), "p").set_index("layout")
    assert judged["error_of_gain"].tolist() == pytest.approx([0, 0.05 / 0.20, 0.02 / 0.20])
    assert judged.at["growing-4", "yaniv_delta"] == pytest.approx(-0.20 * 600 / 1000)


def test_a_perfect_simulation_meets_every_aim():
    found = summary(mosaics.mosaic_rows(compared(0, -0.10, -0.20), cells([100, 90, 80]), "p"), (3, 3))
    assert found.at["largest error", "value"] == pytest.approx(0)
    for quantity in ("skill against a constant", "skill against the Yaniv line", "pairs in the right order"):
        assert found.at[quantity, "value"] == pytest.approx(1)
        assert found.at[quantity, "verdict"] == "MET"


def test_skills_are_one_minus_a_ratio_of_squares():
    judged = mosaics.mosaic_rows(compared(0, -0.10, -0.20), cells([100, 95, 82]), "p")
    found = summary(judged)
    # layouts but 4KB: errors 0.05 and 0.02; the mean -0.15 misses by 0.05 twice
    assert found.at["skill against a constant", "value"] == pytest.approx(1 - (25 + 4) / 50)
    # growing-4 alone: the line says -0.12, 0.02 off; the simulation is 0.05 off
    assert found.at["skill against the Yaniv line", "value"] == pytest.approx(1 - 25 / 4)
    assert found.at["skill against the Yaniv line", "verdict"] == "MISSED"
    assert found.at["skill against the Yaniv line", "reason"] == "because"
    # stretched by 0.20 / 0.18
    shape = 1 - (0.05 * 0.2 / 0.18 - 0.10) ** 2 / 0.02**2
    assert found.at["skill of the shape against the Yaniv line", "value"] == pytest.approx(shape)


def test_without_an_anchor_nothing_is_judged():
    two = compared(0, -0.10, -0.20).iloc[:2]
    judged = mosaics.mosaic_rows(two, cells([100, 90, 80]), "p")
    assert judged.empty
    found = summary(judged)
    assert found.at["largest error", "verdict"] == "NOT MEASURED"
    assert "--reserve" in found.at["largest error", "reason"]


@pytest.mark.parametrize(
    "times, expected",
    [
        # a is slower than b in every round by far; the simulation says so too
        ({"a": [110, 111, 112, 111], "b": [100, 100, 101, 101]}, (1, 1)),
        # the other way round
        ({"a": [100, 100, 101, 101], "b": [110, 111, 112, 111]}, (0, 1)),
        # within noise: not counted
        ({"a": [100, 103, 98, 101], "b": [101, 99, 102, 100]}, (0, 0)),
        # too few rounds
        ({"a": [110, 111], "b": [100, 100]}, (0, 0)),
    ],
)
def test_ranks_count_pairs_that_are_known_to_differ(tmp_path, times, expected):
    lines = ["key,workload,layout,round,status,message,runtime_ns"]
    for layout, values in times.items():
        lines += [f"k{layout},gups,{layout},{r},ok,,{v}" for r, v in enumerate(values)]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(lines) + "\n")
    assert mosaics.rank_pairs(path, pd.Series({"a": 2.0, "b": 1.0})) == expected


def test_a_miss_names_what_the_chase_saw():
    found = pd.DataFrame([{"finding": "2MB pages are splintered", "answer": "yes"}])
    assert "4KB ones" in mosaics.reason_of(found, "host-calibrated")
    none = pd.DataFrame([{"finding": "2MB pages are splintered", "answer": "no"}])
    assert "4KB ones" not in mosaics.reason_of(none, "host-calibrated")
