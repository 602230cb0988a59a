"""What a planned measurement can decide is said before it, and is what its bundle decides afterwards."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tessera.cli import bundle as bundle_judge
from tessera.cli.measure.group import say_decidable_findings
from tessera.cli.pipeline import decidable_findings as told
from tessera.measure.bundles import read
from tessera.measure.counted.campaign import measure
from tessera.measure.counted.plan import PlanCandidates
from tessera.measure.rounds import Rule
from tessera.report.machines.evaluate import CAUSES, WAYS, WHOLE
from tessera.report.machines.groups import CONFIRMS, REFUTES

from .test_command import command, simulated
from .world import engine_cells

WALKS = "micro20-broadwell-walks-exceed-runtime"
GUPS = ("gups-8gb", "gups-16gb", "gups-32gb")
HOLDS = {"REPRODUCED": CONFIRMS, "DEVIATES": REFUTES}


def with_workloads(world, *names):
    for name in names:
        world.workload(name)
    world.cells = engine_cells(world.folder / "engine.csv", names)


def measured(world, **changes):
    """(prospects before the first counted run, the lines that were said, claims decided by the bundle)."""
    found, request, real = [], world.request(**changes), told.planned_findings

    def kept(planned):
        assert not planned.runs and not (request.out / "cells.csv").exists()
        found.append(real(planned))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(told, "planned_findings", kept)
        bundle = measure(request, foretell=say_decidable_findings(request, world.said.append))
    judged = bundle_judge.judge_bundles([bundle], world.folder / "judged", seed=1, orders=1, rehearsals=True)
    claims = judged.claims.set_index("id")
    claims = claims[(claims.kind == "finding") & (claims.provenance == "measured")]
    return found[0], world.said, dict(claims[claims.verdict.isin(HOLDS)].verdict)


def by_way(found):
    return {way: {one.claim.id for one in found if one.way == way} for way in WAYS}


def check(found, decided):
    """What was decided is what was foretold: all that is whole, and of the parts those in their own way."""
    ways = by_way(found)
    assert ways[WHOLE] <= decided.keys()
    assert decided.keys() <= ways[WHOLE] | ways[REFUTES] | ways[CONFIRMS]
    for name, verdict in decided.items():
        assert name in ways[WHOLE] or name in ways[HOLDS[verdict]], name


def test_few_layouts_decide_what_needs_no_model(world):
    """C under 4KB pages needs all three gups; a maximum over them is confirmed by one. C / R is 1.2."""
    with_workloads(world, "gups-16gb")
    found, said, decided = measured(world, workloads=("gups-16gb",))
    check(found, decided)
    assert decided[WALKS] == "REPRODUCED"
    assert WALKS in by_way(found)[CONFIRMS]
    line = next(line for line in said if "can only confirm" in line)
    assert WALKS in line
    causes = {one.claim.id: one.cause for one in found}
    assert causes["micro20-broadwell-negative-beta"] == "layouts"
    assert causes["micro20-xalancbmk-slope"] == "workloads"
    assert causes["micro20-walk-event-counts-per-walker"] == "other"
    assert any("rehearsal" in line for line in said)
    assert all(one.cause in CAUSES for one in found if not one.way)


def test_all_layouts_of_all_gups_decide_models_too(world):
    with_workloads(world, *GUPS)
    results = simulated(world, workloads=GUPS)
    found, said, decided = measured(
        world, workloads=GUPS, layouts="full", results=results, rule=Rule(0.005, 2, 2)
    )
    check(found, decided)
    assert {WALKS, "micro20-table8-gups-broadwell", "micro20-broadwell-negative-beta"} <= by_way(found)[WHOLE]
    assert {"micro20-max-error-mosmodel", "micro20-poly2-up-to-6"} <= by_way(found)[REFUTES]
    assert sum("micro20-table8-gups-broadwell" in line for line in said) == 1


def test_another_class_decides_nothing_and_no_option_helps(world):
    """A Skylake server: 06_55, stepping 4."""
    cpu = (world.machine / "proc/cpuinfo").read_text()
    world.change(
        {"proc/cpuinfo": cpu.replace("model : 79", "model : 85").replace("stepping : 1", "stepping : 4")}
    )
    with_workloads(world, "gups-16gb")
    found, said, decided = measured(world, workloads=("gups-16gb",))
    assert decided == {} and {one.cause for one in found} <= {"class", "other"}
    assert any("no option helps" in line and "claims_elsewhere" in line for line in said)


def test_a_workload_that_decides_something_is_named(world):
    """No finding is about alpha; the smallest set of known workloads that decides one is a gups."""
    with_workloads(world, "alpha", *GUPS)
    found, said, decided = measured(world, workloads=("alpha",))
    assert decided == {} and by_way(found)[WHOLE] == set()
    line = next(line for line in said if "decide no finding" in line)
    assert "--workloads alpha,gups-" in line


def test_minutes_that_would_decide_are_named(world, monkeypatch):
    """Anchors of alpha take 2 x 1 s x 5 rounds, those of gups 2 x 60 s x 5: 610 s are 12.7 minutes at 80%."""
    with_workloads(world, "alpha", "gups-16gb")
    bundle = measure(world.request())
    wider = PlanCandidates({"alpha": 1.0, "gups-16gb": 60.0}, bundle.layouts, passes=1, rounds=5, spent=0.0)
    gups = SimpleNamespace(way=WHOLE)
    monkeypatch.setattr(told, "planned_findings", lambda planned: [gups] * ("gups-16gb" in planned.workloads))
    alpha = replace(bundle, workloads={"alpha": bundle.workloads["alpha"]})
    assert told.smallest_minutes(alpha, wider, more_than=1) == 13
    assert told.smallest_minutes(alpha, replace(wider, spent=4.0), more_than=1) == 18  # (610 + 240) s / 80%
    monkeypatch.setattr(told, "planned_findings", lambda planned: [])
    assert told.smallest_minutes(alpha, wider, more_than=1) is None


def test_the_command_says_it_before_its_rounds(world):
    with_workloads(world, "gups-16gb")
    words = ("--workloads", "gups-16gb", "--layouts", "core", "--rounds", "2", "--minutes", "5", "--out", "b")
    done = command(world, "run", *words)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("round 1"))
    assert any(WALKS in line for line in lines[:first])
    assert any("not those of a protocol" in line for line in lines[:first])  # --rounds 2
    assert read(world.folder / "b").sealed
