"""The smoke configuration through Slurm: recordings, layouts and cells are those of a run without it.

Jobs of a cluster get the same programs and inputs, so their cells are equal byte for byte. The cells that are
compared come from `./run smoke`; without them these tests are skipped. The whole of smoke takes minutes, so
that test runs only with TESSERA_SLURM_WHOLE=1.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest
import yaml

from .runs import ROOT, Workflow, options

pytestmark = [pytest.mark.slow, pytest.mark.toolchain]
NAME = "slurm-smoke"


@pytest.fixture
def local() -> Path:
    """Results of `./run smoke` of this checkout."""
    found = ROOT / "results" / "smoke"
    if not (found / "cells.csv").is_file():
        pytest.skip("there are no cells to compare with: ./run smoke")
    return found


@pytest.fixture
def through_slurm(cluster, tmp_path):
    """Folder of the results, and a configuration like smoke's but with this folder."""
    config = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text()) | {"name": NAME}
    path = tmp_path / f"{NAME}.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    results = ROOT / "results" / NAME
    shutil.rmtree(results, ignore_errors=True)
    yield results, path, config
    shutil.rmtree(results, ignore_errors=True)


def test_cells_are_those_of_a_run_without_slurm(cluster, local, through_slurm):
    results, config_file, config = through_slurm
    cells = [f"cells/{w}/{p}.csv" for w in config["workloads"] for p in config["platforms"]]
    runs = Workflow(ROOT, cluster)
    start = time.monotonic()
    wanted = [f"results/{NAME}/{name}" for name in cells]
    done = runs.run(*wanted, "--configfile", str(config_file), *options(), seconds=1500)
    assert done.returncode == 0, done.stdout[-4000:]
    print(f"{len(cells)} files of cells through Slurm in {time.monotonic() - start:.0f} s")
    for name in cells:
        assert (results / name).read_bytes() == (local / name).read_bytes(), name
    for workload in config["workloads"]:
        ours, theirs = (
            json.loads((r / "traces" / workload / "info.json").read_text()) for r in (results, local)
        )
        assert ours["sha256"] == theirs["sha256"], workload
    assert "COMPLETED" in cluster.states().values()  # Slurm did run them


@pytest.mark.skipif("TESSERA_SLURM_WHOLE" not in os.environ, reason="minutes: TESSERA_SLURM_WHOLE=1")
def test_all_of_smoke(cluster, local, through_slurm):
    """Every step, with its report; what is simulated is equal byte for byte."""
    results, config_file, config = through_slurm
    runs = Workflow(ROOT, cluster)
    start = time.monotonic()
    done = runs.run("smoke", "--configfile", str(config_file), *options(), seconds=3600)
    jobs = len(cluster.states())
    print(f"all of smoke through Slurm in {time.monotonic() - start:.0f} s, {jobs} jobs of Slurm")
    assert done.returncode == 0, done.stdout[-4000:]
    assert (results / "report" / "index.html").is_file()
    simulated = [f"cells/{w}/{p}.csv" for w in config["workloads"] for p in config["platforms"]]
    simulated += [str(p.relative_to(local)) for p in sorted(local.glob("studies/**/*.csv")) if not timed(p)]
    differ = [name for name in simulated if (results / name).read_bytes() != (local / name).read_bytes()]
    assert len(simulated) > 10 and not differ
    assert set(cluster.states().values()) == {"COMPLETED"}


def timed(table: Path) -> bool:
    """Whether a table has times that a clock of this machine measured."""
    return "seconds" in table.read_text().partition("\n")[0]
