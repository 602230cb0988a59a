"""Makes the bundle of notebook 07: a fake machine that counts what the timing engine computed, with noise.

The numbers are the archived cells of one workload. Its memory is 1GB here, not 4GB; windows of layouts are
the same shares of it. `tessera dev notebooks archive` writes new counts into the bundle. To make it all again
(machine, conditions, layouts), remove notebooks/data/machines. Then, in an activated environment, from the
checkout:

    python -m tests.notebooks.fake_machine notebooks/data/machines/bundles
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pandas as pd

from tessera.core.files import repo_root
from tessera.core.results.tree import ResultsTree
from tessera.measure.bundles.reader import read_bundle
from tessera.measure.bundles.store import bundle_id
from tessera.measure.counted.campaign import measure_bundle
from tessera.measure.rounds import StoppingRule
from tests.measure.counted.world import LAUNCHER, World

WORKLOAD, PLATFORM, NOISE = "graph500-4gb", "broadwell-sim", "0.001"
COLUMNS = ["runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles", "instructions"]
PAGE, PAGES = 2 << 20, 512


def make(into: Path) -> Path:
    """Measure on the fake machine with the protocol's rounds; returns the bundle's folder."""
    cells = pd.read_csv(repo_root() / "notebooks" / "data" / "cells.csv")
    cells = cells[(cells["workload"] == WORKLOAD) & (cells["platform"] == PLATFORM)]
    cells[COLUMNS] = cells[COLUMNS].round().astype("int64")
    with tempfile.TemporaryDirectory() as name:
        world = large_world(Path(name), WORKLOAD)
        cells[["workload", "layout", *COLUMNS]].to_csv(world.folder / "engine.csv", index=False)
        os.environ.update(world.environment, TESSERA_FAKE_NOISE=NOISE)
        request = world.request(
            workloads=(WORKLOAD,), layouts="full", rule=StoppingRule(), mode="uk",
            results=even_profile(world.folder / "results", WORKLOAD, PLATFORM),
        )  # fmt: skip
        measure_bundle(request, say=print)
        folder = into / bundle_id(read_bundle(request.out))
        shutil.copytree(request.out, folder)
    return folder


def large_world(folder: Path, workload: str) -> World:
    """A fake machine whose program uses 1GB of anonymous memory, so that all layouts differ."""
    world = World(folder)
    world.workload(workload)
    for path in world.checkout.rglob(f"{workload}.yaml"):
        path.write_text(path.read_text().replace("anon_pool: 32MB", "anon_pool: 1GB"))
    launcher = folder / "tessera-count"
    launcher.write_text(LAUNCHER.read_text().replace('"mmap": 16 << 20', '"mmap": 1 << 30'))
    launcher.chmod(0o755)
    world.environment["TESSERA_LAUNCHER"] = str(launcher)
    return world


def even_profile(results: Path, workload: str, platform: str) -> Path:
    """A results folder with misses that are spread evenly."""
    tree = ResultsTree(results)
    path, info = tree.profile(workload, platform), tree.info(workload)
    for one in (path, info):
        one.parent.mkdir(parents=True)
    rows = [("brk", 0, 1)] + [("mmap", at * PAGE, 1000) for at in range(PAGES)]
    pd.DataFrame(rows, columns=["pool", "offset_bytes", "stlb_misses"]).to_csv(path, index=False)
    pools = [{"kind": "mmap", "used_bytes": PAGE * PAGES, "size_bytes": PAGE * PAGES}]
    info.write_text(json.dumps({"status": "ok", "pools": pools}))
    return results


if __name__ == "__main__":
    print(make(Path(sys.argv[1])))
