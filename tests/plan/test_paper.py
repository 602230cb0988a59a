"""docs/results/paper-inputs.md has the need of every row of the configuration, as the model estimates it."""

from __future__ import annotations

from tessera.cli.plan import costs, estimate
from tessera.core.units import GB
from tessera.record import workloads

HERE_GB = 24  # memory of the machine that the page describes


def listed(root) -> dict[str, list[str]]:
    """Row -> the other columns of the page's first table."""
    text = (root / "docs" / "results" / "paper-inputs.md").read_text().split("\n## What each row needs\n")[1]
    text = text.split("\n## ")[0]  # the second table has errors
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {name: rest for name, *rest in lines[1:]}


def test_each_row_has_its_need(root):
    config, _ = estimate.read_configuration("paper")
    model, table = costs.load_costs(), listed(root)
    rows = {row.name: row for row in costs.recording_rows(config)}
    assert list(table) == list(config["workloads"]) == list(rows)
    for name, (memory, minutes, recording, cells, trace, download, state) in table.items():
        row = rows[name]
        assert memory == f"{row.memory / GB:.1f}", name
        assert minutes == f"{costs.job_seconds(model['trace'], costs.recording_units(row)) / 60:.0f}", name
        assert download == (", ".join(workloads.load_workload(name).size("paper").datasets) or "none"), name
        too_large = row.memory > HERE_GB * GB
        assert ("memory" in state) == too_large and state.startswith(("RUN", "NOT RUN: ")), name
        measured = [float(text) for text in (recording, cells, trace) if text != "-"]
        assert len(measured) == (3 if state == "RUN" else 0) and all(value > 0 for value in measured), name
