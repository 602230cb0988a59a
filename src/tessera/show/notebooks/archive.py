"""`notebooks/data`: a small part of a finished run, so that notebooks can be read and tried without one.

Cells, miss profiles and designs of a few workloads on all platforms; the claims and the models' errors of the
whole run. Profiles and designs are simulated here, from the run's traces. The folder is a results tree
(docs/contracts.md) but for `profiles/` and `designs/`, which stand in the place of the traces.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.paths import repo_root
from tessera.judge.studies.transfer import archived
from tessera.layouts.space import Space
from tessera.results.pair import platform_order
from tessera.results.provenance.versions import git
from tessera.results.read import read_file
from tessera.results.schema.cells import ARCHIVED_DESIGNS, ARCHIVED_PROFILE, CELLS
from tessera.results.schema.models import OF_RUN
from tessera.results.schema.shown import CLAIMS
from tessera.results.schema.transfer import NEW_DESIGNS, SAMPLES
from tessera.results.tree import Tree
from tessera.results.write import write as write_table
from tessera.show.explore.designs import Design, simulate_on_trace
from tessera.show.explore.source import ARCHIVE, Source, open_results
from tessera.show.notebooks import rehearsal
from tessera.simulate.runner import miss_profile

WORKLOADS = ("graph500-4gb", "network-simplex", "gups-8gb")
#: Of info.json; the rest depends on the machine that recorded.
INFO = ("workload", "size", "accesses", "instructions", "distinct_4kb_pages", "checksum", "pools", "about")
ERRORS = replace(OF_RUN["errors"], float_format="%.9g")
README = """# Archived data of the notebooks

A small part of one run of `config/default.yaml`, made by `tessera notebooks archive`. Every number is
**simulated**, except the column `published` of `claims.csv`, which the papers print.

| file | what |
|---|---|
| `cells.csv` | R, H, M, C of {workloads} on {platforms}: all layouts, columns of docs/contracts.md |
| `profiles/` | STLB misses under 4KB pages per 2MB of each pool, by workload and platform |
| `designs/` | H, M, C and R of the designs of notebook 03, engine `timing`; of the pairs that have a file |
| `studies/transfer/` | the study of transfer without ladders, and a fingerprint (docs/transfer.md) |
| `traces/*/info.json` | pools and counts of the recorded traces (which are too large to be here) |
| `machines/bundles/` | a rehearsal of notebook 07: a fake machine that counts archived cells, with noise |
| `claims.csv`, `models/errors.csv` | claims and errors of **all** {pairs} pairs of that run |

Run: commit {commit}, seed {seed}, sampling `{sampling}`.
{study}
"""
_STUDY = "Study of transfer (`studies/transfer/`): commit {commit}, seed {seed}, workloads {workloads}."
_NO_STUDY = "Study of transfer: that run did not make it."


def designs_for(platform: str) -> list[Design]:
    """Those of notebook 03: a larger second-level TLB, more walkers, and hot pages that are huge."""
    values = platforms.load(platform).values
    return [
        Design("STLB x 4", {"tlb.stlb.entries": 4 * values["tlb.stlb.entries"].value}),
        Design("twice the walkers", {"walker.count": 2 * values["walker.count"].value}),
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
    study = _NO_STUDY
    if NEW_DESIGNS.place(source.results.tree).is_file():
        archived.keep(source.results.tree, made)
        study = _of_study(source.results.tree)
    chosen = [(w, p) for w in workloads for p in platform_order(cells["platform"]) if (w, p) in source.pairs]
    rehearsal.renew(out, repo_root() / ARCHIVE, read_file(CELLS, made.cells))
    (out / "README.md").write_text(_readme(source, chosen, study))
    for workload, platform in chosen:
        _simulate(source, workload, platform, made)


def write_study(results_dir: Path, out: Path) -> None:
    """Replace only the study of transfer in an archive that is there, and the line about it in its README.

    Raises:
        TesseraError: the folder has no study, or ``out`` has no README.md with such a line.
    """
    results = Tree(repo_root() / results_dir)
    readme = out / "README.md"
    text = readme.read_text() if readme.is_file() else ""
    line = re.compile(r"^Study of transfer.*$", re.MULTILINE)
    if not line.search(text):
        raise TesseraError(
            f"the study of transfer in {out}", "its README.md has no line that begins: Study of transfer",
            f"make the whole archive: ./run tessera notebooks archive --results {results_dir}",
        )  # fmt: skip
    archived.keep(results, Tree(out))
    write_text(readme, line.sub(_of_study(results), text))


def _of_study(results: Tree) -> str:
    """The line of the README about the study: the commit of the run, else that of the checkout."""
    config = json.loads(results.provenance("config").read_text())
    noted = results.provenance("git")
    commit = (json.loads(noted.read_text()) if noted.is_file() else git())["commit"]
    workloads = ", ".join(read_file(SAMPLES, SAMPLES.place(results))["workload"].unique())
    return _STUDY.format(commit=str(commit)[:12], seed=config["seed"], workloads=workloads)


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


def _readme(source: Source, chosen, study: str) -> str:
    config, git = (json.loads(source.results.tree.provenance(part).read_text()) for part in ("config", "git"))
    return README.format(
        workloads=", ".join(sorted({workload for workload, _ in chosen})),
        platforms=", ".join(sorted({platform for _, platform in chosen})),
        pairs=len(source.results.pairs()),
        commit=str(git.get("commit"))[:12],
        seed=config["seed"],
        sampling=config["sampling"],
        study=study,
    )
