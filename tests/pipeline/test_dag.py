"""What the workflow does again when something changed; its steps are stubs that only make their outputs."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import pytest
import yaml

from tessera.core.units import GB
from tessera.record import workloads
from tessera.record.workloads import prepared

from .stub_checkout import Checkout

#: Issue: "nothing to do" takes at most so long. Seconds of processor time, since tests share the machine.
NOTHING_TO_DO_SECONDS = 15


def config(checkout) -> dict:
    return yaml.safe_load((checkout.folder / "config" / "default.yaml").read_text())


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("checkout"))
    first = checkout.steps("reproduce")
    pairs = len(config(checkout)["workloads"]) * len(config(checkout)["platforms"])
    assert pairs == 57
    for step in ("dev step fit", "dev step adaptive", "dev step one-gb"):  # one job per platform
        assert sum(line.count("/cells/") for line in named(first, step)) == pairs, step
        assert len(named(first, step)) == len(config(checkout)["platforms"]), step
    asked = config(checkout)["studies"]["ablations"]
    some = len(asked["workloads"]) * len(asked["platforms"])
    ablated = named(first, "lab run ablations")  # all ablations of some pairs, mispredictions of all
    assert len(ablated) == pairs
    assert sum(" only=" not in line for line in ablated) == len(asked["workloads"]) * len(asked["every_on"])
    assert sum("no-overlap" in line for line in ablated) == some - 3 * len(asked["every_on"])
    assert sum("no-mispredictions" in line for line in ablated) == pairs - 3
    built_and_removed(checkout, first)
    return checkout


def built_and_removed(checkout, steps: list[str]) -> None:
    """Each prepared file is built once, before its rows are recorded, and removed behind them.

    At most 16 GB of files are there at once.
    """
    sizes = {
        name: workloads.load_workload(name).size(one["size"])
        for name, one in config(checkout)["workloads"].items()
    }
    files = prepared.of(sizes.values())
    assert len(files) == 10 and sum(one.prepared is not None for one in sizes.values()) == 12
    there: set[str] = set()
    for line in steps:
        if line.startswith("dev step prepare"):
            name = Path(value(line, "file")).name
            assert name not in there
            there.add(name)
            assert sum(files[one].bytes for one in there) <= 16 * GB
        elif line.startswith("dev step record"):
            asked = sizes.get(value(line, "workload"))
            assert not asked or not asked.prepared or asked.prepared.file in there
        elif line.startswith("dev step drop"):
            there.remove(Path(value(line, "file")).name)
    assert not there and len(named(steps, "dev step prepare")) == len(files)


def value(line: str, key: str) -> str:
    """What a step's word KEY=VALUE says."""
    return next(word.removeprefix(f"{key}=") for word in line.split() if word.startswith(f"{key}="))


def named(steps: list[str], step: str) -> list[str]:
    return [line for line in steps if line.startswith(step)]


@pytest.mark.slow
def test_nothing_to_do_is_quick_and_starts_no_step(finished, monkeypatch):
    monkeypatch.setattr(finished, "warm", False)
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
        *named(steps, "dev step layouts"),
        *named(steps, "dev step cells"),
        *named(steps, "dev step fit"),
        *named(steps, "dev step adaptive"),
        *named(steps, "dev step one-gb"),
    ]
    pairs += named(steps, "lab run ablations")
    assert len(named(steps, "dev step cells")) == len(config(finished)["workloads"])
    assert all("haswell-sim" in line and "broadwell-sim" not in line for line in pairs)
    for untouched in ("dev step record", "dev step host", "lab run sweep", "lab run window", "dev build"):
        assert named(steps, untouched) == [], untouched


@pytest.mark.slow
def test_one_changed_workload_records_only_that_one(finished):
    path = finished.folder / "config" / "workloads" / "gapbs-bfs-road.yaml"
    path.write_text(path.read_text() + "# changed\n")
    steps = finished.steps("reproduce")
    assert (
        len(named(steps, "dev step record")) == 1 and "gapbs-bfs-road" in named(steps, "dev step record")[0]
    )
    assert all("gapbs-bfs-road" in line for line in named(steps, "dev step cells"))
    assert len(named(steps, "dev step cells")) == 3


def test_recordings_are_limited_by_the_configuration_and_by_memory(tmp_path):
    """Limits of accesses on the command line; memory in the resources of the job."""
    checkout = Checkout(tmp_path)
    said = checkout.snakemake("-n", "--printshellcmds", "reproduce")
    limit = config(checkout)["max_accesses"]
    commands = re.findall(r"tessera dev step record workload=(\S+) .*max_accesses=(\d+)", said)
    recorded = {*config(checkout)["workloads"], config(checkout)["host"]["workload"]}
    assert set(commands) == {(name, str(limit)) for name in recorded}
