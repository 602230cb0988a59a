"""`notebooks/data`: a small part of a finished run, so that notebooks can be read and tried without one.

Cells, miss profiles and designs of a few workloads on all platforms; the claims and the models' errors of the
whole run. Profiles and designs are simulated here, from the run's traces. The folder is a results tree
(docs/contracts.md) but for `profiles/` and `designs/`, which stand in the place of the traces.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.layouts.space import Space
from tessera.show.explore.designs import Design, archive_file, run
from tessera.show.explore.hot import profile_file
from tessera.show.explore.source import Source, open_results
from tessera.show.figures.tables import platform_order
from tessera.simulate.runner import miss_profile

WORKLOADS = ("graph500-4gb", "network-simplex", "gups-8gb")
#: Of info.json; the rest depends on the machine that recorded.
INFO = ("workload", "size", "accesses", "instructions", "distinct_4kb_pages", "checksum", "pools", "about")
README = """# Archived data of the notebooks

A small part of one run of `config/default.yaml`, made by `tessera notebooks archive`. Every number is
**simulated**, except the column `published` of `claims.csv`, which the papers print.

| file | what |
|---|---|
| `cells.csv` | R, H, M, C of {workloads} on {platforms}: all layouts, columns of docs/contracts.md |
| `profiles/` | STLB misses under 4KB pages per 2MB of each pool, by workload and platform |
| `designs/` | H, M, C of the designs of notebook 03, engine `partial`; of the pairs that have a file |
| `traces/*/info.json` | pools and counts of the recorded traces (which are too large to be here) |
| `claims.csv`, `models/errors.csv` | claims and errors of **all** {pairs} pairs of that run |

Run: commit {commit}, seed {seed}, sampling `{sampling}`.
"""


def designs_for(platform: str) -> list[Design]:
    """Those of notebook 03: a larger second-level TLB, and an operating system that finds hot pages."""
    entries = platforms.load(platform).values["tlb.stlb.entries"].value
    return [
        Design("STLB x 4", {"tlb.stlb.entries": 4 * entries}),
        Design("2MB pages where half of the misses are", hot_share=0.5),
    ]


def write(results_dir: Path, out: Path, workloads=WORKLOADS) -> None:
    """Make the archive of ``workloads`` from a finished run with traces; tables that are there are kept.

    Raises:
        TesseraError: the run lacks a workload, its trace, or the claims.
    """
    source = open_results(results_dir)
    tree = source.results.directory
    if not (tree / "claims.csv").is_file():
        raise TesseraError(f"claims.csv of {source.where}", "no such file", "./run reproduce makes it")
    cells = source.results.cells
    kept = cells[cells["workload"].isin(workloads) & (cells["engine"] != "host")]
    for folder in ("models", "profiles", "designs"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    kept.to_csv(out / "cells.csv", index=False)
    pd.read_csv(tree / "claims.csv", keep_default_na=False).to_csv(out / "claims.csv", index=False)
    # of the analysed pairs only: their cells, which say which pairs these are, stay behind
    source.results.errors.to_csv(out / "models" / "errors.csv", index=False, float_format="%.9g")
    chosen = [(w, p) for w in workloads for p in platform_order(cells["platform"]) if (w, p) in source.pairs]
    (out / "README.md").write_text(_readme(source, chosen))
    for workload, platform in chosen:
        _simulate(source, workload, platform, out)


def _simulate(source: Source, workload: str, platform: str, out: Path) -> None:
    folder = source.results.directory / "traces" / workload
    info = json.loads((folder / "info.json").read_text())
    target = out / "traces" / workload / "info.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({key: info[key] for key in INFO}, indent=1, sort_keys=True) + "\n")
    trace = folder / "trace.tst"
    pair = source.pair(workload, platform)
    misses = profile_file(out, workload, platform)
    if not misses.exists():
        miss_profile(trace, platforms.load(platform), misses)
        misses.with_suffix(".platform").unlink(missing_ok=True)
    path = archive_file(out, workload, platform)
    if not path.exists():
        space = Space.from_trace_info(info)
        designs = run(trace, pair, designs_for(platform), space, pd.read_csv(misses))
        designs.to_csv(path, index=False)


def _readme(source: Source, chosen) -> str:
    folder = source.results.directory / "provenance"
    config = json.loads((folder / "config.json").read_text())
    git = json.loads((folder / "git.json").read_text())
    return README.format(
        workloads=", ".join(sorted({workload for workload, _ in chosen})),
        platforms=", ".join(sorted({platform for _, platform in chosen})),
        pairs=len(source.results.pairs()),
        commit=str(git.get("commit"))[:12],
        seed=config["seed"],
        sampling=config["sampling"],
    )
