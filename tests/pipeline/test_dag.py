"""What the workflow does again when something changed; its steps are stubs that only make their outputs."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tessera.core.paths import repo_root

ROOT = repo_root()
STUB = Path(__file__).with_name("stub_tessera.py")
#: All that rules name as inputs; copies, so that an edit of the checkout meanwhile changes nothing.
COPIED = (
    "Snakefile", "artifacts", "config", "docker", "notebooks", "profiles", "reference-results", "report",
    "src", "workflow",
)  # fmt: skip
#: Issue: "nothing to do" takes at most so long. Seconds of processor time, since tests share the machine.
NOTHING_TO_DO_SECONDS = 15


class Checkout:
    """A checkout whose `tessera` is a stub; ``finished`` has made everything once."""

    def __init__(self, folder: Path):
        self.folder, self.log = folder, folder / "steps.log"
        for name in COPIED:
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, folder / name)
        command = folder / "bin" / "tessera"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -S {STUB} "$@"\n')
        command.chmod(0o755)

    def snakemake(self, *words: str) -> str:
        """Both streams of a run that must succeed."""
        path = f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = os.environ | {"PATH": path, "STUB_LOG": str(self.log), "TESSERA_ROOT": str(self.folder)}
        env |= {"TESSERA_ENGINE": "docker", "TESSERA_RESERVE": "0"}
        done = subprocess.run(
            ["snakemake", "--cores", "2", *words], cwd=self.folder, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    def steps(self, *words: str) -> list[str]:
        """The steps that a run starts."""
        self.log.unlink(missing_ok=True)
        self.snakemake(*words)
        return self.log.read_text().splitlines() if self.log.exists() else []

    def config(self) -> dict:
        return yaml.safe_load((self.folder / "config" / "default.yaml").read_text())


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("checkout"))
    first = checkout.steps("reproduce")
    pairs = len(checkout.config()["workloads"]) * len(checkout.config()["platforms"])
    assert pairs == 57
    for step in ("pipeline fit", "pipeline adaptive", "pipeline one-gb"):  # one job per platform
        assert sum(line.count("/cells/") for line in named(first, step)) == pairs, step
        assert len(named(first, step)) == len(checkout.config()["platforms"]), step
    return checkout


def named(steps: list[str], step: str) -> list[str]:
    return [line for line in steps if line.startswith(step)]


@pytest.mark.slow
def test_nothing_to_do_is_quick_and_starts_no_step(finished):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    steps = finished.steps("reproduce")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert steps == ["report check --results results/default"]
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < NOTHING_TO_DO_SECONDS


@pytest.mark.slow
def test_one_changed_platform_simulates_only_its_own_pairs(finished):
    path = finished.folder / "config" / "platforms" / "haswell-sim.yaml"
    path.write_text(path.read_text() + "# changed\n")
    steps = finished.steps("reproduce")
    pairs = [
        *named(steps, "pipeline layouts"),
        *named(steps, "pipeline cells"),
        *named(steps, "pipeline fit"),
        *named(steps, "pipeline adaptive"),
        *named(steps, "pipeline one-gb"),
    ]
    pairs += named(steps, "study ablations")
    assert len(named(steps, "pipeline cells")) == len(finished.config()["workloads"])
    assert all("haswell-sim" in line and "broadwell-sim" not in line for line in pairs)
    for untouched in ("pipeline record", "pipeline host", "study sweep", "study window", "build"):
        assert named(steps, untouched) == [], untouched


@pytest.mark.slow
def test_one_changed_workload_records_only_that_one(finished):
    path = finished.folder / "config" / "workloads" / "gapbs-bfs-road.yaml"
    path.write_text(path.read_text() + "# changed\n")
    steps = finished.steps("reproduce")
    assert (
        len(named(steps, "pipeline record")) == 1 and "gapbs-bfs-road" in named(steps, "pipeline record")[0]
    )
    assert all("gapbs-bfs-road" in line for line in named(steps, "pipeline cells"))
    assert len(named(steps, "pipeline cells")) == 3


def test_recordings_are_limited_by_the_configuration_and_by_memory(tmp_path):
    """Limits of accesses on the command line; memory in the resources of the job."""
    checkout = Checkout(tmp_path)
    said = checkout.snakemake("-n", "--printshellcmds", "reproduce")
    limit = checkout.config()["max_accesses"]
    commands = re.findall(r"tessera pipeline record --workload (\S+) .*--max-accesses (\d+)", said)
    assert set(commands) == {(name, str(limit)) for name in checkout.config()["workloads"]}
