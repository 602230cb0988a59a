"""`notebooks/data`: a small part of a finished run, so that notebooks can be read and tried without one.

Cells, miss profiles and designs of a few workloads on all platforms; the claims and the models' errors of the
whole run. Profiles and designs are simulated here, from the run's traces. The folder is a results tree
(docs/contracts.md) but for `profiles/` and `designs/`, which stand in the place of the traces.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tessera import platforms
from tessera.core.files import write_text
from tessera.core.paths import repo_root
from tessera.layouts.space import Space
from tessera.results.pair import platform_order
from tessera.results.read import read_file
from tessera.results.schema.cells import ARCHIVED_DESIGNS, ARCHIVED_PROFILE, CELLS
from tessera.results.schema.models import OF_RUN
from tessera.results.schema.shown import CLAIMS
from tessera.results.schema.transfer import VERDICTS, WIDTHS
from tessera.results.tree import Tree
from tessera.results.write import write as write_table
from tessera.show.explore.designs import Design, simulate_on_trace
from tessera.show.explore.source import ARCHIVE, Source, open_results
from tessera.show.notebooks import rehearsal
from tessera.simulate.runner import miss_profile

WORKLOADS = ("graph500-4gb", "network-simplex", "gups-8gb")
#: Of info.json; the rest depends on the machine that recorded.
INFO = ("workload", "size", "accesses", "instructions", "distinct_4kb_pages", "checksum", "pools", "about")
#: Of the study of transfer: which models survive which classes of designs.
STUDY = (VERDICTS, WIDTHS)
ERRORS = replace(OF_RUN["errors"], float_format="%.9g")
README = """# Archived data of the notebooks

A small part of one run of `config/default.yaml`, made by `tessera notebooks archive`. Every number is
**simulated**, except the column `published` of `claims.csv`, which the papers print.

| file | what |
|---|---|
| `cells.csv` | R, H, M, C of {workloads} on {platforms}: all layouts, columns of docs/contracts.md |
| `profiles/` | STLB misses under 4KB pages per 2MB of each pool, by workload and platform |
| `designs/` | H, M, C and R of the designs of notebook 03, engine `timing`; of the pairs that have a file |
| `studies/transfer/` | which models survive which classes of designs, if that run made the study |
| `traces/*/info.json` | pools and counts of the recorded traces (which are too large to be here) |
| `machines/bundles/` | a rehearsal of notebook 07: a fake machine that counts archived cells, with noise |
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

    The rehearsal of notebook 07 is counted again, so that it has the counts of the new cells. Its machine and
    layouts are those of the bundle in ``out``, else of the archive of the checkout.

    Raises:
        TesseraError: the run lacks a workload, its trace, the claims, or a layout of the rehearsal.
    """
    source = open_results(results_dir)
    made = Tree(out)
    cells = source.results.cells
    kept = cells[cells["workload"].isin(workloads) & (cells["engine"] != "host")]
    write_table(CLAIMS, source.results.strict(CLAIMS), made.claims)
    write_table(CELLS, kept, made.cells)
    # of the analysed pairs only: their cells, which say which pairs these are, stay behind
    write_table(ERRORS, source.results.models("errors"), ERRORS.place(made))
    for table in STUDY:
        if table.place(source.results.tree).is_file():
            write_table(table, source.results.strict(table), table.place(made))
    chosen = [(w, p) for w in workloads for p in platform_order(cells["platform"]) if (w, p) in source.pairs]
    rehearsal.renew(out, repo_root() / ARCHIVE, read_file(CELLS, made.cells))
    (out / "README.md").write_text(_readme(source, chosen))
    for workload, platform in chosen:
        _simulate(source, workload, platform, made)


def _simulate(source: Source, workload: str, platform: str, made: Tree) -> None:
    tree = source.results.tree
    info, trace = json.loads(tree.info(workload).read_text()), tree.trace(workload)
    kept = {key: info[key] for key in INFO}
    write_text(made.info(workload), json.dumps(kept, indent=1, sort_keys=True) + "\n")
    pair = source.pair(workload, platform)
    misses = made.archived_profile(workload, platform)
    if not misses.exists():
        misses.parent.mkdir(parents=True, exist_ok=True)
        miss_profile(trace, platforms.load(platform), misses)
    path = made.archived_designs(workload, platform)
    if not path.exists():
        profile = read_file(ARCHIVED_PROFILE, misses)
        space = Space.from_trace_info(info)
        designs = simulate_on_trace(trace, pair, designs_for(platform), space, profile, timed=True)
        write_table(ARCHIVED_DESIGNS, designs, path)


def _readme(source: Source, chosen) -> str:
    config, git = (json.loads(source.results.tree.provenance(part).read_text()) for part in ("config", "git"))
    return README.format(
        workloads=", ".join(sorted({workload for workload, _ in chosen})),
        platforms=", ".join(sorted({platform for _, platform in chosen})),
        pairs=len(source.results.pairs()),
        commit=str(git.get("commit"))[:12],
        seed=config["seed"],
        sampling=config["sampling"],
    )
