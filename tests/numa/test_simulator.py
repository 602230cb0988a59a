"""The closed form beside the simulator: each engine gives exactly its walk cycles, and the same n.

A platform whose memory takes 580 cycles is one whose page tables are all remote, as far as C is concerned:
walks do not wait for data. So C is that at 280 cycles + n x 300. The same follows from the keys ``numa.*``.
"""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core import files, platforms
from tessera.lab.numa.placement_costs import (
    HOG_SWEEP,
    LoadCosts,
    Placement,
    placed_walk_cycles,
    published_machine,
    wait_cycles,
)
from tessera.lab.numa.placement_study import placed_platform, placement_cases
from tessera.lab.numa.predicted_costs import walks_of
from tessera.record import traces
from tests.in_process import tessera

pytestmark = pytest.mark.toolchain
POOL, BASE, ACCESSES = 64 << 20, 64 << 30, 100_000
RECORD = np.dtype(
    [
        ("ip", "<u8"), ("is_branch", "u1"), ("taken", "u1"), ("written", "u1", 2), ("read", "u1", 4),
        ("stores", "<u8", 2), ("loads", "<u8", 4),
    ]
)  # fmt: skip
#: caches so small that leaf tables of 128 KB leave them: 8 sets x 20 ways in each of 14 slices of L3
SMALL = ("cache.l2.bytes=32768", "cache.l3.bytes=143360")
REMOTE_TABLES = Placement("RP-LD", "A", "B", "A", None)


@pytest.fixture(scope="module")
def random_trace(tmp_path_factory):
    """Random loads over a pool of 64MB, as ChampSim records."""
    for component, name in (("simulator", "tessera-sim"), ("tracer", "tessera-trace")):
        if not (files.build_dir(component) / name).exists():
            pytest.skip(f"build/{component}/{name} is missing: ./run tessera dev build {component}")
    folder = tmp_path_factory.mktemp("trace")
    records = np.zeros(ACCESSES, RECORD)
    records["ip"] = 0x401000
    records["written"][:, 0], records["read"][:, 0] = 5, 6
    records["loads"][:, 0] = BASE + 64 * np.random.default_rng(11).integers(0, POOL // 64, ACCESSES)
    records.tofile(folder / "random.champsim")
    (folder / "4kb.csv").write_text(f"type,pageSize,startOffset,endOffset\nmmap,-1,0,{POOL}\n")
    pool = f"{BASE:#x}:{BASE + POOL:#x}"
    traces.import_champsim(folder / "random.champsim", folder / "random.tst", mmap_pool=pool)
    return folder


@pytest.fixture(scope="module")
def simulated(random_trace):
    """C, n and M of the trace on one engine with changed keys; sampling is full, so they are exact."""

    def run(engine: str, name: str, *changes: str):
        out = random_trace / f"{engine}-{name}.csv"
        sets = [word for key in (*SMALL, *changes) for word in ("--set", key)]
        line = ["simulate", "--trace", random_trace / "random.tst", "--platform", "haswell-4s-sim", *sets]
        line += ["--layouts", random_trace / "4kb.csv", "--engine", engine, "--sampling", "full"]
        line += ["--workload", "random", "--out", out, "--cache", random_trace / "cache"]
        done = tessera(*line)
        assert done.returncode == 0, done.stderr
        return walks_of(out, "random", "haswell-4s-sim")

    return run


ENGINES = pytest.mark.parametrize("engine", ["partial", "timing", "reference"])


@ENGINES
def test_the_formula_is_what_the_engines_count(simulated, engine):
    near, far = (simulated(engine, str(cycles), f"memory.load_cycles={cycles}") for cycles in (280, 580))
    assert near.loads == far.loads > ACCESSES / 10
    assert placed_walk_cycles(near.cycles, near.loads, REMOTE_TABLES, LoadCosts(280, 580)) == far.cycles


@ENGINES
def test_the_formula_is_what_they_count_with_nodes(simulated, engine):
    machine, platform = published_machine(), platforms.load_platform("haswell-4s-sim")
    near = simulated(engine, "local")
    for case in placement_cases(machine):
        if case.assumption not in ("", HOG_SWEEP[1.0]):
            continue
        values = placed_platform(platform, machine, case).values
        keys = [f"{key}={values[key].value}" for key in values if key.startswith("numa.")]
        found = simulated(engine, case.where.name, *keys)
        costs = LoadCosts(280, 580, wait_cycles(case.lines, 5))
        assert found.loads == near.loads and found.walks == near.walks
        assert placed_walk_cycles(near.cycles, near.loads, case.where, costs) == found.cycles
