"""``./run measure`` as its user starts it: a process, its output and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pandas as pd

from tessera.core.layouts.generation import layouts_manifest
from tessera.core.results.tree import ResultsTree
from tessera.core.units import MB
from tessera.measure.bundles import read_bundle, verify

from .world import LAYOUTS, engine_cells


def command(world, *words):
    return subprocess.run(
        [sys.executable, "-m", "tessera", "measure", *words],
        capture_output=True,
        text=True,
        env=os.environ | world.environment,
        cwd=world.folder,
        stdin=subprocess.DEVNULL,
    )


def simulated(world, hot_mb=12, used_mb=16):
    """A results folder with misses of alpha: all in one page of the anonymous pool."""
    tree = ResultsTree(world.folder / "results")
    rows = [("brk", 0, 1)] + [("mmap", at * MB, 1000 if at == hot_mb else 1) for at in range(0, 16, 2)]
    pools = [{"kind": "mmap", "used_bytes": used_mb * MB, "size_bytes": 32 * MB}]
    path, info = tree.profile("alpha", "broadwell-sim"), tree.info("alpha")
    path.parent.mkdir(parents=True)
    pd.DataFrame(rows, columns=["pool", "offset_bytes", "stlb_misses"]).to_csv(path, index=False)
    info.parent.mkdir(parents=True)
    info.write_text(json.dumps({"status": "ok", "pools": pools}))
    return tree.root


def test_all_layouts_with_simulated_misses(world):
    results = simulated(world)
    words = ("--workloads", "alpha", "--rounds", "2", "--results", str(results), "--out", "b")
    done = command(world, "run", *words)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    before = lines[: next(at for at, line in enumerate(lines) if line.startswith("round 1"))]
    assert any("not those of a protocol" in line for line in before)  # --rounds 2
    assert any("rehearsal" in line for line in before)
    bundle = read_bundle(world.folder / "b")
    found = {name: layout for (_, name), layout in bundle.layouts.items()}
    assert sorted(found) == sorted(LAYOUTS)
    # S is 2MB of the heap and 16MB; the hottest 20% of the misses lie in the page at 12MB of the pool
    assert [(w.pool, w.start, w.end) for w in found["sliding-20-0"].windows] == [("mmap", 12 * MB, 14 * MB)]
    assert len(layouts_manifest(list(found.values()))) == 55
    row = next(one for one in bundle.environment if one.check == "sliding-windows")
    assert "broadwell-sim" in row.found and "rehearsal" in row.found
    wrong = [check for check in verify.verify_bundle(world.folder / "b").checks if not check.passed]
    assert [check.name for check in wrong] == ["protocol"]  # two rounds only
    assert "protocol" in done.stdout.splitlines()[-1]
    for words in ("growing-8", "sd/mean", "rehearsal"):
        assert words in done.stdout + done.stderr


def test_a_profile_of_another_size_is_refused(world):
    results = simulated(world, used_mb=8)
    done = command(world, "run", "--workloads", "alpha", "--results", str(results), "--out", "b")
    assert done.returncode == 2 and "8MB" in done.stderr and "--layouts core" in done.stderr


def test_a_failed_layout_is_the_exit_status(world):
    world.environment["TESSERA_FAKE_BREAK"] = "alpha/growing-2"
    words = ("--workloads", "alpha", "--rounds", "2", "--layouts", "core", "--out", "b")
    done = command(world, "run", *words)
    assert done.returncode == 1 and "growing-2" in done.stdout
    assert read_bundle(world.folder / "b").sealed


def test_a_wrong_request_changes_nothing(world):
    done = command(world, "run", "--layouts", "core", "--out", "b", "--workloads", "gamma")
    assert done.returncode == 2 and "gamma" in done.stderr and "Traceback" not in done.stderr
    assert world.lines("starts") == [] and not (world.folder / "b").exists()


def test_a_program_on_a_machine_with_counters(world):
    """The fake launcher counts `program` under 4KB pages; C / R = 600000008 / 500000000."""
    engine_cells(world.folder / "engine.csv", ("program",))
    done = command(world, "--", "true")
    assert done.returncode == 0, done.stderr
    rows = dict(line.rsplit("  ", 1) for line in done.stdout.splitlines() if "  " in line)
    found = {key.strip(): value.strip() for key, value in rows.items()}
    assert found["C / R"] == "1.2"
    assert found["M per 1000 instructions"] == "7.14"  # 5000014 / 700000 = 7.143
    assert found["M per 1000 instructions, 4KB pages"] == "7.14"
    assert "broadwell" in done.stdout and "rehearsal" in done.stderr
