"""What the workflow does again when something changed; its steps are stubs that only make their outputs."""

from __future__ import annotations

import re
import resource

import pytest
import yaml

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
    for step in ("pipeline fit", "pipeline adaptive", "pipeline one-gb"):  # one job per platform
        assert sum(line.count("/cells/") for line in named(first, step)) == pairs, step
        assert len(named(first, step)) == len(config(checkout)["platforms"]), step
    asked = config(checkout)["studies"]["ablations"]
    some = len(asked["workloads"]) * len(asked["platforms"])
    ablated = named(first, "study ablations")  # all ablations of some pairs, mispredictions of all
    assert len(ablated) == pairs
    assert sum("--only" not in line for line in ablated) == len(asked["workloads"]) * len(asked["every_on"])
    assert sum("--only no-overlap" in line for line in ablated) == some - 3 * len(asked["every_on"])
    assert sum("--only no-mispredictions" in line for line in ablated) == pairs - 3
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
    assert len(named(steps, "pipeline cells")) == len(config(finished)["workloads"])
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
    limit = config(checkout)["max_accesses"]
    commands = re.findall(r"tessera pipeline record --workload (\S+) .*--max-accesses (\d+)", said)
    assert set(commands) == {(name, str(limit)) for name in config(checkout)["workloads"]}
