"""The error budget: each part by hand, and that unknown is said, never zero."""

import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.results.machine_tables import MOSAICS
from tessera.core.results.table_io import frame_of, write_table
from tessera.fit.models.samples import check_samples
from tessera.fit.predict import error_budget
from tessera.fit.predict.budget import PARTS
from tessera.fit.predict.prediction import fit_to, read_design

from .builders import design, samples


def budget(frame=None, model="poly1", asked=None, **options) -> pd.DataFrame:
    fitted = fit_to(check_samples(samples() if frame is None else frame), model)
    found = error_budget(fitted, read_design(design() if asked is None else asked), **options)
    assert tuple(found["part"]) == PARTS
    return found.set_index("part")


def mosaics(tmp_path, platform="haswell-sim"):
    path = tmp_path / "mosaics.csv"
    rows = [
        {"platform": platform, "layout": layout, "measured_delta": measured, "simulated_delta": simulated}
        for layout, measured, simulated in (
            ("growing-0", 0.0, 0.0), ("growing-4", -0.2, -0.24), ("growing-8", -0.5, -0.4)
        )
    ]  # fmt: skip
    write_table(MOSAICS, frame_of(MOSAICS, rows), path)
    return path


def test_what_is_unknown_is_said_and_not_zero():
    found = budget()
    for part, word in (
        ("simulator", "mosaics.csv"),
        ("sampling", "runtime_cycles_ci95"),
        ("noise", "record"),
    ):
        assert np.isnan(found.at[part, "relative"]) and word in found.at[part, "message"]
        assert found.at[part, "message"].startswith("unknown")
    assert found.at["total", "relative"] == found.at["model", "relative"] > 0
    assert found.at["total", "message"] == "a lower bound: simulator, sampling, noise unknown"


def test_model_is_half_the_interval():
    fitted = fit_to(samples(), "poly1")
    points = read_design(design())
    interval = fitted.interval(points, 0.95)
    found = budget().loc["model"]
    assert found["half_width_cycles"] == pytest.approx((interval.high[0] - interval.low[0]) / 2)
    assert found["provenance"] == "simulated"


def test_simulator_by_hand(tmp_path):
    """|-0.24 + 0.2| / 0.8 = 0.05 and |-0.4 + 0.5| / 0.5 = 0.2: the larger counts."""
    found = budget(mosaics=mosaics(tmp_path)).loc["simulator"]
    assert found["relative"] == pytest.approx(0.2) and found["provenance"] == "measured"


def test_a_platform_that_never_ran_is_unknown(tmp_path):
    found = budget(mosaics=mosaics(tmp_path, "host-sim")).loc["simulator"]
    assert np.isnan(found["relative"])
    assert "haswell-sim" in found["message"] and "host-sim" in found["message"]


def test_sampling_of_a_line_by_hand():
    """Equal runtime errors s on a least squares line: the variance at C is s^2 (1/n + (C - mean)^2 / Sxx)."""
    frame = samples().assign(runtime_cycles_ci95=1e8, walk_cycles_ci95=0.0)
    C = frame["walk_cycles"].to_numpy()
    expected = 1e8 * np.sqrt(1 / 40 + (1e9 - C.mean()) ** 2 / np.sum((C - C.mean()) ** 2)) / 5.5e9
    found = budget(frame, asked=design(walk_cycles_ci95=[0.0])).loc["sampling"]
    assert found["relative"] == pytest.approx(expected, rel=0.15)  # 200 draws know it to about 5%


def test_the_designs_own_walk_cycles_count():
    """Slope 0.5 times a half-width of 4e8 cycles."""
    frame = samples().assign(runtime_cycles_ci95=0.0, walk_cycles_ci95=0.0)
    found = budget(frame, asked=design(walk_cycles_ci95=[4e8])).loc["sampling"]
    assert found["half_width_cycles"] == pytest.approx(0.5 * 4e8, rel=0.15)
    blind = budget(frame).loc["sampling"]
    assert blind["half_width_cycles"] == 0 and "walk_cycles_ci95" in blind["message"]


def test_one_missing_interval_makes_sampling_unknown():
    frame = samples().assign(runtime_cycles_ci95=1e8, walk_cycles_ci95=1e8)
    frame.loc[4, "walk_cycles_ci95"] = np.nan
    assert np.isnan(budget(frame).at["sampling", "relative"])


def test_noise_by_hand(tmp_path):
    """Two layouts, two runs each, 1% and 3% apart in logarithm: pooled s^2 = (d1^2 + d2^2) / 4, 2 degrees."""
    path = tmp_path / "runs.csv"
    runtimes = [100.0, 100.0 * np.exp(0.01), 200.0, 200.0 * np.exp(0.03)]
    pd.DataFrame({"layout": ["a", "a", "b", "b"], "runtime_ns": runtimes}).to_csv(path, index=False)
    found = budget(repeats=path).loc["noise"]
    pooled = np.sqrt((0.01**2 + 0.03**2) / 4)
    assert found["relative"] == pytest.approx(4.302652729911275 * pooled)  # t(0.975, 2)
    assert found["provenance"] == "measured" and " 2 degrees" in found["message"]


@pytest.mark.parametrize("column", ["workload", "Platform"])
def test_repeats_of_several_workloads_are_not_pooled(column, tmp_path):
    """The difference of two programs is no noise."""
    path = tmp_path / "runs.csv"
    rows = [("a", 100.0, "gups"), ("a", 900.0, "mcf"), ("b", 101.0, "gups")]
    pd.DataFrame(rows, columns=["layout", "runtime_ns", column]).to_csv(path, index=False)
    with pytest.raises(TesseraError, match="runs.csv.*gups, mcf"):
        budget(repeats=path)


def test_single_runs_tell_nothing_of_noise(tmp_path):
    path = tmp_path / "runs.csv"
    pd.DataFrame({"layout": ["a", "b"], "runtime_cycles": [1.0, 2.0]}).to_csv(path, index=False)
    noise = budget(repeats=path).loc["noise"]
    assert np.isnan(noise["relative"]) and noise["message"].startswith("unknown: ")


def test_total_is_the_root_of_the_sum_of_squares(tmp_path):
    runs = tmp_path / "runs.csv"
    pd.DataFrame({"layout": ["a", "a", "a"], "runtime_ns": [100.0, 101.0, 103.0]}).to_csv(runs, index=False)
    frame = samples().assign(runtime_cycles_ci95=1e8, walk_cycles_ci95=1e7)
    found = budget(frame, mosaics=mosaics(tmp_path), repeats=runs)
    parts = found.loc[["model", "simulator", "sampling", "noise"], "relative"]
    assert found.at["total", "relative"] == pytest.approx(np.sqrt((parts**2).sum()))
    assert found.at["total", "provenance"] == "measured+simulated"


def test_no_interval_no_model_part():
    found = budget(samples(12)).loc["model"]
    assert np.isnan(found["relative"]) and "19 distinct layouts" in found["message"]


def test_refusals(tmp_path):
    with pytest.raises(TesseraError, match="none.csv") as error:
        budget(mosaics=tmp_path / "none.csv")
    assert error.value.code == "table-absent"
    (tmp_path / "odd.csv").write_text("layout\na\n")
    with pytest.raises(TesseraError, match="odd.csv.*platform"):
        budget(mosaics=tmp_path / "odd.csv")
    with pytest.raises(TesseraError, match="odd.csv.*runtime_cycles .*runtime_ns"):
        budget(repeats=tmp_path / "odd.csv")


def test_the_command_writes_the_budget(tmp_path):
    samples().to_csv(tmp_path / "cells.csv", index=False)
    design().to_csv(tmp_path / "design.csv", index=False)
    asked = ["--samples", tmp_path / "cells.csv", "--counts", tmp_path / "design.csv", "--formula", "poly1"]
    asked += ["--budget", tmp_path / "budget.csv"]
    done = CliRunner().invoke(cli, ["predict", *map(str, asked)])
    assert done.exit_code == 0, done.output
    assert re.search(r"mine: simulator +(\?|unknown) ", done.stdout)
    assert list(pd.read_csv(tmp_path / "budget.csv")["part"]) == list(PARTS)
