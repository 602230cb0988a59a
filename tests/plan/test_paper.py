"""docs/results/paper-inputs.md names every row of the configuration: run, or why not."""

from __future__ import annotations

import re

from tessera.cli.plan import costs, estimate
from tessera.core.units import GB
from tessera.record import workloads
from tests.docs import pages

HERE_GB = 24  # memory of the machine that the page describes


def test_each_row_was_run_or_has_a_reason():
    config, _ = estimate.read_configuration("paper")
    rows = {row.name: row for row in costs.recording_rows(config)}
    text = pages.text("paper-inputs.md", "The rows that were run")
    run = re.findall(r"^\| ([a-z][\w-]+) \| \d", text, re.MULTILINE)
    large, absent = (names.split(", ") for names in re.findall(r"^Not run.*?: (.*?)\.$", text, re.MULTILINE))
    assert sorted((*run, *large, *absent)) == sorted(config["workloads"]) == sorted(rows)
    assert {name for name, row in rows.items() if row.memory > HERE_GB * GB} == set(large)
    assert all(workloads.load_workload(name).size("paper").datasets for name in absent)
