"""`snakemake kernel` and its neighbours: each step makes what the rules say, and is started once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.core.paths import repo_root

STUB = Path(__file__).with_name("stub_tessera.py")
#: What these rules name as inputs.
COPIED = (
    "Snakefile",
    "artifacts",
    "config",
    "docker",
    "profiles",
    "reference-results",
    "report",
    "src",
    "workflow",
)


@pytest.fixture
def steps(tmp_path):
    """Runs targets with a `tessera` that only makes its outputs; returns the steps that were started."""
    for name in COPIED:
        source = repo_root() / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, tmp_path / name)
    (tmp_path / "notebooks").mkdir()
    command, log = tmp_path / "bin" / "tessera", tmp_path / "steps.log"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -S {STUB} "$@"\n')
    command.chmod(0o755)

    def run(*targets):
        log.unlink(missing_ok=True)
        path = f"{command.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = os.environ | {"PATH": path, "STUB_LOG": str(log), "TESSERA_ROOT": str(tmp_path)}
        env |= {"TESSERA_ENGINE": "docker", "TESSERA_RESERVE": "0"}
        argv = ["snakemake", "--cores", "2", *targets]
        done = subprocess.run(argv, cwd=tmp_path, env=env, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr[-3000:]
        lines = log.read_text().splitlines() if log.exists() else []
        return [line.split()[6] for line in lines if line.startswith("pipeline attempt ")]

    return run


@pytest.mark.slow
def test_each_part_is_made_once(steps):
    assert steps("kernel_smoke") == ["test"]
    rest = ["placement", "prove", "selftests-mm", "stress-ng", "table4", "table5", "table6"]
    assert sorted(steps("kernel")) == rest
    assert steps("kernel", "kernel_smoke") == []
    assert steps("kernel_bisect") == ["bisect"]
