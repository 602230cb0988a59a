"""`tessera plan`: sums by hand, the model beside two measured runs, and configurations that are refused."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tessera.cli.plan import costs, estimate
from tessera.cli.plan.command import plan as command
from tessera.cli.plan.estimate import Machines
from tessera.core.errors import TesseraError
from tessera.core.units import GB

RUNS = Path(__file__).parent / "runs"
ONE = Machines(nodes=1, cores=2, memory=24 * GB)


def run(name) -> dict[str, tuple[int, float]]:
    with (RUNS / f"{name}.csv").open() as stream:
        return {row["rule"]: (int(row["jobs"]), float(row["seconds"])) for row in csv.DictReader(stream)}


@pytest.mark.parametrize("name", ["default", "walk-cost"])
def test_the_model_is_within_its_tolerance_of_two_runs(name):
    """Two cores of an AMD EPYC; the second run's platforms differ from those of the first."""
    config, _ = estimate.read_configuration(name)
    found = estimate.compare_with_run(config, run(name))
    assert abs(estimate.relative_difference(found)) < estimate.TOLERANCE
    largest = found[:2]  # recordings and cells, more than half of the time
    assert {one.rule for one in largest} == {"trace", "cells"}
    assert all(abs(one.estimated / one.measured - 1) < estimate.TOLERANCE for one in largest)


def test_a_job_by_hand():
    """2 s + 3 s x 4 M accesses + 0.5 s x 8 GB = 18 s."""
    terms = [costs.Term("M", 2, 3), costs.Term("GB", 0, 0.5)]
    assert costs.job_seconds(terms, {"M": 4, "GB": 8}) == 18
    with pytest.raises(KeyError):
        costs.job_seconds(terms, {"M": 4})


def test_units_of_the_default_configuration():
    config, _ = estimate.read_configuration("default")
    rows = {row.name: row for row in costs.recording_rows(config)}
    assert len(rows) == 20  # 19 and gups in the size of the real runs
    bc = rows["gapbs-bc-twitter"]  # its file: a region of 9330799028 accesses, recorded in windows
    assert bc.recorded == 100 and bc.passed_over == pytest.approx(9230.799028)
    assert bc.touched == 8300 << 20 and bc.built == 0
    of = costs.rule_units(config, rows.values())
    assert of["cells"]["million sampled"] == 20 * (2.5 + 1.0)  # 55 layouts
    assert of["study_designs"]["million accesses of the window"] == 5
    assert of["study_transfer"]["million accesses of the window"] == pytest.approx((11 * 2 + 4) / 12)


def test_ten_times_the_samples_cost_ten_times_their_part():
    """70 M accesses and instructions are sampled in each of 57 jobs; 630 M more with ten times the units."""
    config, _ = estimate.read_configuration("default")
    rate = next(
        term for term in costs.load_costs()["cells"] if term.unit == "million sampled"
    ).seconds_per_unit
    sampling = config["sampling"].replace("units=20", "units=200")
    once, more = (
        estimate.estimate_of_jobs(words, {"cells": 57}, ONE).seconds
        for words in (config, config | {"sampling": sampling})
    )
    assert more - once == pytest.approx(57 * 630 * rate)


def test_days_are_bounded_by_cores_memory_and_the_longest_chain():
    lines = (
        estimate.RuleEstimate("trace", 4, 4000.0, 8 * GB, 8.0 * GB),
        estimate.RuleEstimate("fit", 1, 1000.0),
    )
    plan = estimate.ReproductionEstimate(lines, 0, 1500.0, (), Machines(1, 5, 100 * GB))
    assert plan.elapsed_seconds == 1500  # the chain; 5000 s / 5 cores are less
    assert replace(plan, machines=Machines(1, 2, 100 * GB)).elapsed_seconds == 2500
    assert replace(plan, machines=Machines(1, 5, 8 * GB)).elapsed_seconds == 4000  # one recording at a time


def test_jobs_of_a_dry_run():
    text = (
        "Job stats:\njob      count\n------  ------\ncells    2\nsmoke    1\ntotal    3\n\nReasons:\n x 5\n"
    )
    assert estimate.counts_in_text(text) == {"cells": 2}
    assert estimate.counts_in_text(text + text.replace("2", "4")) == {"cells": 4}  # the last table counts


@pytest.mark.parametrize("text", ["", "workloads: {}\n", "a: [\n"])
def test_no_configuration_of_a_run(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(TesseraError) as refused:
        estimate.read_configuration(str(path))
    assert "mine.yaml" in refused.value.asked


def test_check_of_a_run(tmp_path):
    """Twice the time of the model: status 1, both sums in the output."""
    folder = tmp_path / "provenance"
    folder.mkdir()
    header = "run,job,subject,started_s,ended_s,threads,outcome\n"
    (folder / "timeline.csv").write_text(header + "r,chase,,0,30,1,ok\nr,chase,,0,9,1,failed\n")
    done = CliRunner().invoke(command, ["--config", "default", "--check", str(tmp_path)])
    assert done.exit_code == 0 and "chase,1,30,30" in done.output
    (folder / "timeline.csv").write_text(header + "r,chase,,0,60,1,ok\n")
    done = CliRunner().invoke(command, ["--config", "default", "--check", str(tmp_path)])
    assert done.exit_code == 1 and "-50%" in done.output
    for text in (
        "",
        header,
        header.replace("job", "name") + "r,chase,,0,60,1,ok\n",
        header + "r,a,,x,60,1,ok\n",
    ):
        (folder / "timeline.csv").write_text(text)
        with pytest.raises(TesseraError):
            estimate.timeline_seconds(folder / "timeline.csv")
