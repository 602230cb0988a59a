"""SIGKILL at random times, 20 times: each loses at most the run that it hits, and the bundle is sealed."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback

from tessera.measure import bundles
from tessera.measure.bundles import verify
from tessera.measure.bundles.file_format import RUNS_FILE
from tessera.measure.counted.campaign import measure_bundle
from tessera.measure.rounds import StoppingRule

from .world import TWO_PASSES

KILLS = 20


def in_child(request):
    """Measure in a child process, whose number is returned; its launchers die with it."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        measure_bundle(request)
        status = 0
    except BaseException:  # the child must not return into pytest
        traceback.print_exc()
    finally:
        os._exit(status)


def counted_runs(world):
    path = world.folder / "bundle" / RUNS_FILE
    return max(0, path.read_bytes().count(b"\n") - 1) if path.exists() else 0


def test_twenty_kills_lose_at_most_a_run_each(world, monkeypatch):
    monkeypatch.setenv("TESSERA_FAKE_NOISE", "0.0005")
    world.change(TWO_PASSES)
    request = world.request(
        rule=StoppingRule(0.005, 3, 3)
    )  # 2 workloads x 10 layouts x 2 passes x 3: 120 runs
    chance, kills, finished = random.Random(11), 0, False
    while kills < KILLS and not finished:
        before = counted_runs(world)
        child = in_child(request)
        wanted = before + chance.randint(1, 3)  # some progress, then any moment of a run
        while counted_runs(world) < wanted and not finished:
            finished = os.waitpid(child, os.WNOHANG)[0] == child
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.06))
        if not finished:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            kills += 1
            assert counted_runs(world) >= before
    assert kills == KILLS, "the measurement ended too early for this test"
    assert os.waitpid(in_child(request), 0)[1] == 0
    bundle = bundles.read_bundle(world.folder / "bundle")
    assert bundle.sealed and all(run.good for run in bundle.runs)
    places = {(r.workload, r.layout, r.round, r.pass_name) for r in bundle.runs}
    assert len(places) == len(bundle.runs)
    trials = 3  # two passes of the first workload, one of the second
    lost = len(world.lines("ends")) - len(bundle.runs) - trials
    assert lost <= KILLS
    wrong = [check.name for check in verify.verify_bundle(world.folder / "bundle").checks if not check.passed]
    assert wrong == ["protocol"]  # three rounds only
