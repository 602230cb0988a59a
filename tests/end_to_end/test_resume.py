"""kill -9 amid a simulation: finished cells stay, the rest is simulated, the result is the same."""

import signal
import subprocess
import sys

import pandas as pd
import pytest

from .conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.toolchain]

#: Cells that are finished when the kill comes. Layouts end by groups, milliseconds apart, so a watcher from
#: outside could not choose the moment: the process itself kills its group (the simulator with it) when this
#: many are in the cache.
FINISHED = 5

#: ``python -c`` with the arguments of ``tessera``.
KILLED = f"""
import itertools, os, signal
from tessera.cli.main import main
from tessera.simulate.runner import CellCache

put, calls = CellCache.put, itertools.count(1)

def put_and_die(self, key, cell):
    put(self, key, cell)
    if next(calls) == {FINISHED}:
        os.killpg(0, signal.SIGKILL)

CellCache.put = put_and_die
main()
"""


def words(smoke, out, cache):
    trace = smoke.results / "traces" / "graph500" / "trace.tst"
    layouts = smoke.results / "layouts" / "graph500" / "sandybridge-sim"
    said = ["simulate", "--trace", trace, "--platform", "sandybridge-sim", "--layouts", layouts]
    said += ["--out", out, "--cache", cache, "--workload", "graph500", "--sampling", "full"]
    return list(map(str, said))


def simulate(*how):
    return subprocess.run([sys.executable, *how], cwd=ROOT, start_new_session=True, timeout=600)


def cached(cache):
    return {path.name: path.stat().st_mtime_ns for path in cache.glob("*/*.json")}


def test_killed_simulation_goes_on_where_it_was(smoke, tmp_path):
    assert smoke.status == 0, smoke.output[-2000:]
    cache = tmp_path / "cache"
    killed = simulate("-c", KILLED, *words(smoke, tmp_path / "killed.csv", cache))
    assert killed.returncode == -signal.SIGKILL
    before = cached(cache)
    assert len(before) == FINISHED
    assert not (tmp_path / "killed.csv").exists()

    assert simulate("-m", "tessera", *words(smoke, tmp_path / "resumed.csv", cache)).returncode == 0
    after = cached(cache)
    assert len(after) > FINISHED, "the rest was not simulated"
    assert {name: after[name] for name in before} == before, "a finished cell was simulated again"

    whole = words(smoke, tmp_path / "whole.csv", tmp_path / "other")
    assert simulate("-m", "tessera", *whole).returncode == 0
    assert len(cached(tmp_path / "other")) == len(after)
    resumed, whole = pd.read_csv(tmp_path / "resumed.csv"), pd.read_csv(tmp_path / "whole.csv")
    pd.testing.assert_frame_equal(resumed, whole)
