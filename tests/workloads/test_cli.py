"""``tessera workload``, and tiny runs of the built programs in the toolchain."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tessera.cli.workload import workload
from tessera.machine.container import toolchain
from tessera.record import workloads

SOON = 60  # seconds


def test_list_and_show_name_every_size():
    listed = CliRunner().invoke(workload, ["show"])
    assert listed.exit_code == 0
    for name in workloads.workload_names():
        assert name in listed.output
        shown = CliRunner().invoke(workload, ["show", name]).output
        assert all(f"  {label}:" in shown for label in workloads.load_workload(name).sizes)


@pytest.mark.toolchain
@pytest.mark.parametrize("name", ["graph500", "gups", "pr"])
def test_tiny_runs_are_verified_and_have_the_footprint_they_declare(name):
    done = toolchain().run(workloads.load_workload(name).command("tiny"), capture=True)
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["workload"] == name
    assert result["verified"] is True
    declared = workloads.load_workload(name).size("tiny").footprint
    assert result["footprint_bytes"] == pytest.approx(declared, rel=0.01)


@pytest.mark.toolchain
def test_run_passes_the_line_on():
    starter = "import sys; from tessera.cli.main import main; sys.argv[0] = 'tessera'; main()"
    command = [sys.executable, "-c", starter, "workload", "run", "gups", "--size", "tiny"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SOON)
    assert json.loads(done.stdout.splitlines()[-1])["verified"] is True
