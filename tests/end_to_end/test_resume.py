"""kill -9 amid a simulation: finished cells stay, the rest is simulated, the result is the same."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from .conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.toolchain]


def argv(smoke, out, cache):
    trace = smoke.results / "traces" / "graph500" / "trace.tst"
    layouts = smoke.results / "layouts" / "graph500" / "sandybridge-sim"
    words = ["simulate", "--trace", trace, "--platform", "sandybridge-sim", "--layouts", layouts]
    words += ["--out", out, "--cache", cache, "--workload", "graph500", "--sampling", "full"]
    return [sys.executable, "-m", "tessera", *map(str, words)]


def cached(cache):
    return {path.name: path.stat().st_mtime_ns for path in cache.glob("*/*.json")}


def test_killed_simulation_goes_on_where_it_was(smoke, tmp_path):
    assert smoke.status == 0, smoke.output[-2000:]
    cache = tmp_path / "cache"
    process = subprocess.Popen(argv(smoke, tmp_path / "killed.csv", cache), cwd=ROOT, start_new_session=True)
    deadline = time.monotonic() + 120
    while not cached(cache) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is None, "the simulation ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = cached(cache)
    assert before, "no cell had been finished"
    assert not (tmp_path / "killed.csv").exists()

    subprocess.run(argv(smoke, tmp_path / "resumed.csv", cache), cwd=ROOT, check=True)
    after = cached(cache)
    assert len(after) > len(before), "the kill came after the last cell"
    assert {name: after[name] for name in before} == before, "a finished cell was simulated again"

    subprocess.run(argv(smoke, tmp_path / "whole.csv", tmp_path / "other"), cwd=ROOT, check=True)
    resumed, whole = pd.read_csv(tmp_path / "resumed.csv"), pd.read_csv(tmp_path / "whole.csv")
    pd.testing.assert_frame_equal(resumed, whole)
