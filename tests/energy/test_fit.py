"""Power constants from runs: exact recovery, coverage of the intervals, and runs that are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.study import run_command
from tessera.core.errors import TesseraError
from tessera.lab.energy import power, thread_runs

TRUTH = np.array([60.0, 1e-9, 2e-8])
DRAWS = 400


def made(seed=0, noise_w=0.0):
    """(IPS, misses/s, W) of 5 runs with each of 6 numbers of threads."""
    n = np.repeat([1, 2, 4, 8, 12, 24], 5).astype(float)
    ips = 1.7e9 * n / (1 + 0.03 * n)
    misses = ips * 0.02 * (0.01 + 0.15 * n / 24)
    watts = power.fit_matrix(ips, misses) @ TRUTH
    return ips, misses, watts + noise_w * np.random.default_rng(seed).normal(size=len(n))


def test_noiseless_runs_give_their_constants():
    found = power.fit_power(*made())
    assert found.values == pytest.approx(TRUTH, rel=1e-9)
    assert found.rms_w < 1e-9


def test_coverage_of_the_intervals():
    """At least 90% of 400 noisy draws contain the truth, for each constant; nominal are 95%."""
    covered = np.zeros(3)
    for seed in range(DRAWS):
        found = power.fit_power(*made(seed, noise_w=0.3))
        covered += (found.low <= TRUTH) & (found.high >= TRUTH)
    share = covered / DRAWS
    print("coverage of", dict(zip(power.FITTED_NAMES, share.round(3), strict=True)))
    assert (share >= 0.90).all() and (share <= 0.98).all()


def test_no_constant_is_negative():
    ips, misses, _ = made()
    found = power.fit_power(ips, misses, power.fit_matrix(ips, misses) @ np.array([60.0, 1e-9, -2e-8]))
    assert (found.values >= 0).all() and found.values[2] == 0 and found.low[2] == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda i, m, w: (i, m, -w), "power-negative"),
        (lambda i, m, w: (i[:3], m[:3], w[:3]), "too-few-runs"),
        (lambda i, m, w: (i, i / 50, w), "columns-alike"),
        (lambda i, m, w: (np.full_like(i, 1e9), m, w), "columns-alike"),
    ],
)
def test_refused(change, code):
    with pytest.raises(TesseraError) as caught:
        power.fit_power(*change(*made()))
    assert caught.value.code == code


def run_table(**columns):
    ips, misses, watts = made(1, 0.3)
    found = {
        "round": np.tile(np.arange(5), 6), "threads": np.repeat([1, 2, 4, 8, 12, 24], 5), "seconds": 2.0,
        "instructions": 2 * ips, "llc_loads": 20 * misses, "llc_misses": 2 * misses, "energy_j": 2 * watts,
        "idle_w": 40.0, "provenance": "measured",
    }  # fmt: skip
    return pd.DataFrame(found | columns)


def test_columns_of_runs():
    table = thread_runs.checked_runs(run_table(), "runs")
    ips, misses, watts = made(1, 0.3)
    assert table["ips"].to_numpy() == pytest.approx(ips) and table["power_w"].to_numpy() == pytest.approx(
        watts
    )
    assert table["misses_per_s"].to_numpy() == pytest.approx(misses)
    assert set(table["llc_miss_rate"].round(12)) == {0.1}
    assert thread_runs.few_repeats(table) == [] and thread_runs.few_repeats(table[table["round"] < 4]) == [
        1,
        2,
        4,
        8,
        12,
        24,
    ]


@pytest.mark.parametrize(
    ("columns", "code", "value"),
    [
        ({"energy_j": -5.0}, "runs-value", "energy_j"),
        ({"energy_j": 0.0}, "runs-value", "energy_j"),
        ({"seconds": 0.0}, "runs-value", "seconds"),
        ({"instructions": "many"}, "runs-value", "instructions"),
        ({"llc_misses": np.inf}, "runs-value", "llc_misses"),
        ({"idle_w": -1.0}, "runs-value", "idle_w"),
        ({"threads": 8}, "runs-threads", "8"),
    ],
)
def test_runs_refused(columns, code, value):
    with pytest.raises(TesseraError) as caught:
        thread_runs.checked_runs(run_table(**columns), "runs.csv")
    assert caught.value.code == code and value in str(caught.value)


def test_files_refused(tmp_path):
    for table, code in (
        (run_table().drop(columns="idle_w"), "runs-columns"),
        (run_table()[:0], "runs-empty"),
    ):
        table.to_csv(tmp_path / "runs.csv", index=False)
        with pytest.raises(TesseraError) as caught:
            thread_runs.read_runs(tmp_path / "runs.csv")
        assert caught.value.code == code


def test_the_command_writes_a_power_file(tmp_path):
    run_table().to_csv(tmp_path / "runs.csv", index=False)
    words = ["threads-fit", f"runs={tmp_path / 'runs.csv'}", "--out", str(tmp_path / "power.yaml")]
    done = CliRunner().invoke(run_command, words, catch_exceptions=False)
    assert done.exit_code == 0 and "30 runs" in done.output
    written = power.read_power(tmp_path / "power.yaml")
    assert written.of("static_w") == pytest.approx(60, rel=0.02)
    assert written.of("l2_j") == 0 and written.values["static_w"].source.startswith("fitted")


@pytest.mark.parametrize("name", ["a: b", 'x"y', "null", "# no", "1"])
def test_a_power_file_is_read_back_whatever_its_name(tmp_path, name):
    found = power.FittedPower(np.array([60.0, 1e-09, 2e-08]), np.zeros(3), np.ones(3), np.zeros(1))
    power.write_power(found, name, f"4 runs of {name}.csv", tmp_path / "power.yaml")
    written = power.read_power(tmp_path / "power.yaml")
    assert written.name == name and [written.of(key) for key in power.FITTED_NAMES] == [60.0, 1e-09, 2e-08]
    assert f"4 runs of {name}.csv" in written.values["static_w"].source


def test_a_missing_file_of_runs_names_the_command_that_makes_it(tmp_path):
    with pytest.raises(TesseraError, match="threads measure"):
        thread_runs.read_runs(tmp_path / "runs.csv")
