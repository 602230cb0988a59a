"""`notebooks/data`, a small part of a finished run, and the outputs of it that notebooks in git hold.

Notebooks can be read and tried without a run, and are the same at every run. The archive has a rehearsal of
a measurement, too.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import remove_folder, repo_root, write_text
from tessera.core.layouts.generation import Space
from tessera.core.results.cell_tables import ARCHIVED_DESIGNS, ARCHIVED_PROFILE, CELLS, MODELS_OF_RUN
from tessera.core.results.loader import platform_order
from tessera.core.results.report_tables import CLAIMS
from tessera.core.results.table_io import read_file, write_table
from tessera.core.results.transfer_tables import NEW_DESIGNS, SAMPLES
from tessera.core.results.tree import ResultsTree
from tessera.lab.transfer import archived
from tessera.measure.bundles import csv_files, file_format, merge, store, writer
from tessera.measure.bundles.bundle import REGION, Bundle, EventCount, MeasuredRun
from tessera.measure.bundles.head_checks import conditions_with_runs
from tessera.measure.bundles.reader import parse_bundle, read_bundle
from tessera.measure.bundles.writer import sealed_files
from tessera.report.explore.designs import Design, simulate_on_trace
from tessera.report.explore.source import ARCHIVE, ResultsSource, open_results
from tessera.report.notebooks import INJECTED, WIDGET, Notebook, execute_notebook
from tessera.report.provenance import git_state
from tessera.simulate.runner import miss_profile

# The archive: cells, miss profiles and designs of a few workloads on all platforms; the claims and the
# models' errors of the whole run.
#
# Profiles and designs are simulated here, from the run's traces. The folder is a results tree
# (docs/contracts.md) but for `profiles/` and `designs/`, which stand in the place of the traces.

WORKLOADS = ("graph500-4gb", "network-simplex", "gups-8gb")
#: Of info.json; the rest depends on the machine that recorded.
ARCHIVE_INFO = (
    "workload",
    "size",
    "accesses",
    "instructions",
    "distinct_4kb_pages",
    "checksum",
    "pools",
    "about",
)
ERRORS = replace(MODELS_OF_RUN["errors"], float_format="%.9g")
README = """# Archived data of the notebooks

A small part of one run of `config/default.yaml`, made by `tessera dev notebooks archive`. Every number is
**simulated**, except the column `published` of `claims.csv`, which the papers print.

| file | what |
|---|---|
| `cells.csv` | R, H, M, C of {workloads} on {platforms}: all layouts, columns of docs/contracts.md |
| `profiles/` | STLB misses under 4KB pages per 2MB of each pool, by workload and platform |
| `designs/` | H, M, C and R of the designs of notebook 02, engine `timing`; of the pairs that have a file |
| `studies/transfer/` | the study of transfer without ladders, and a fingerprint (docs/explain/transfer.md) |
| `traces/*/info.json` | pools and counts of the recorded traces (which are too large to be here) |
| `machines/bundles/` | a rehearsal of notebook 07: a fake machine that counts archived cells, with noise |
| `claims.csv`, `models/errors.csv` | claims and errors of **all** pairs of that run |

Run: commit {commit}, seed {seed}, sampling `{sampling}`.
{study}
"""
_STUDY = "Study of transfer (`studies/transfer/`): commit {commit}, seed {seed}, workloads {workloads}."
_NO_STUDY = "Study of transfer: that run did not make it."


def designs_for(platform: str) -> list[Design]:
    """Those of notebooks 02 and 03: a larger second-level TLB, more walkers, and hot pages that are huge."""
    values = platforms.load_platform(platform).values
    return [
        Design("STLB x 4", {"tlb.stlb.entries": 4 * values["tlb.stlb.entries"].value}),
        Design("twice the walkers", {"walker.count": 2 * values["walker.count"].value}),
        Design("2MB pages where half of the misses are", hot_share=0.5),
    ]


def write_archive(results_dir: Path, out: Path, workloads=WORKLOADS) -> None:
    """Make the archive of ``workloads`` from a finished run with traces; tables that are there are kept.

    The rehearsal of notebook 07 is counted again, so that it has the counts of the new cells. Its machine and
    layouts are those of the bundle in ``out``, else of the archive of the checkout.

    Raises:
        TesseraError: the run lacks a workload, its trace, the claims, or a layout of the rehearsal.
    """
    source = open_results(results_dir)
    made = ResultsTree(out)
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
    renew_rehearsals(out, repo_root() / ARCHIVE, read_file(CELLS, made.cells))
    write_text(out / "README.md", _archive_readme(source, chosen, study))
    for workload, platform in chosen:
        _simulate_archived(source, workload, platform, made)


def write_study(results_dir: Path, out: Path) -> None:
    """Replace only the study of transfer in an archive that is there, and the line about it in its README.

    Raises:
        TesseraError: the folder has no study, or ``out`` has no README.md with such a line.
    """
    results = ResultsTree(repo_root() / results_dir)
    readme = out / "README.md"
    text = readme.read_text() if readme.is_file() else ""
    line = re.compile(r"^Study of transfer.*$", re.MULTILINE)
    if not line.search(text):
        raise TesseraError(
            f"the study of transfer in {out}", "its README.md has no line that begins: Study of transfer",
            f"make the whole archive: ./run tessera dev notebooks archive --results {results_dir}",
        )  # fmt: skip
    archived.keep(results, ResultsTree(out))
    write_text(readme, line.sub(_of_study(results), text))


def _of_study(results: ResultsTree) -> str:
    """The line of the README about the study: the commit of the run, else that of the checkout."""
    config = json.loads(results.provenance("config").read_text())
    noted = results.provenance("git")
    commit = (json.loads(noted.read_text()) if noted.is_file() else git_state())["commit"]
    workloads = ", ".join(read_file(SAMPLES, SAMPLES.place(results))["workload"].unique())
    return _STUDY.format(commit=str(commit)[:12], seed=config["seed"], workloads=workloads)


def _simulate_archived(source: ResultsSource, workload: str, platform: str, made: ResultsTree) -> None:
    tree = source.results.tree
    info, trace = json.loads(tree.info(workload).read_text()), tree.trace(workload)
    kept = {key: info[key] for key in ARCHIVE_INFO}
    write_text(made.info(workload), json.dumps(kept, indent=1, sort_keys=True) + "\n")
    pair = source.pair(workload, platform)
    misses = made.archived_profile(workload, platform)
    if not misses.exists():
        misses.parent.mkdir(parents=True, exist_ok=True)
        miss_profile(trace, platforms.load_platform(platform), misses)
    path = made.archived_designs(workload, platform)
    if not path.exists():
        profile = read_file(ARCHIVED_PROFILE, misses)
        space = Space.from_trace_info(info)
        designs = simulate_on_trace(trace, pair, designs_for(platform), space, profile, timed=True)
        write_table(ARCHIVED_DESIGNS, designs, path)


def _archive_readme(source: ResultsSource, chosen, study: str) -> str:
    config, git = (json.loads(source.results.tree.provenance(part).read_text()) for part in ("config", "git"))
    return README.format(
        workloads=", ".join(sorted({workload for workload, _ in chosen})),
        platforms=", ".join(sorted({platform for _, platform in chosen})),
        commit=str(git.get("commit"))[:12],
        seed=config["seed"],
        sampling=config["sampling"],
        study=study,
    )


# The archive's rehearsal, counted again: the same machine, layouts and runs, with counts of other cells.
#
# Notebook 07 reads this bundle. It shows a measurement where there is none: each count is that of an
# archived cell, and R and C have noise, drawn for each run. Bundle and notebook say so. A fake machine of
# the tests made its heads (``tests/notebooks/fake_machine.py``).

NOISE = 0.001  #: standard deviation of R and C between runs, of their value
CYCLES_PER_NS = 2
_INPUTS = {"H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}


def renew_rehearsals(archive: Path, template: Path, cells: pd.DataFrame) -> list[Path]:
    """Count every rehearsal again; bundles of real machines stay as they are.

    Args:
        archive: the folder that gets them. If it has no bundle, those of ``template`` are counted again.
        cells: the archived cells.

    Returns:
        The folders of the rehearsals in ``archive``.

    Raises:
        TesseraError: as :func:`recounted_rehearsal`.
    """
    made = []
    for folder in ResultsTree(archive).machines.bundles() or ResultsTree(template).machines.bundles():
        bundle = read_bundle(folder)
        if not bundle.about.rehearsal:
            continue
        files = recounted_rehearsal(bundle, cells)
        target = ResultsTree(archive).machines.bundle(store.bundle_id(parse_bundle(str(folder), files)))
        if not target.exists():
            merge.write(files, target)
        if folder != target and folder.is_relative_to(archive):  # now that there is another one
            remove_folder(folder)
        if target not in made:
            made.append(target)
    return made


def recounted_rehearsal(bundle: Bundle, cells: pd.DataFrame) -> dict[str, bytes]:
    """The files of the sealed bundle whose runs count ``cells``: those of platform ``<class>-sim``.

    Raises:
        TesseraError: a layout of the bundle has no cell with numbers, or an event has no number in a cell.
    """
    platform = f"{bundle.about.class_name}-sim"
    mine = cells[(cells["platform"] == platform) & cells["runtime_cycles"].notna()]
    table = mine.drop_duplicates(["workload", "layout"]).set_index(["workload", "layout"])
    runs, counts = [], []
    for run in bundle.runs:
        if (run.workload, run.layout) not in table.index:
            raise _impossible(bundle, f"no cell of {run.workload}, {platform}, {run.layout} has numbers")
        numbers = _run_numbers(table.loc[(run.workload, run.layout)], random.Random(f"run {run.run}"))
        runs.append(replace(run, roi_ns=numbers["R time"]))
        counts += _event_counts(bundle, run, numbers)
    texts = writer.head_files(
        bundle.about, bundle.machine, bundle.environment, bundle.events, bundle.workloads, bundle.layouts
    )
    texts[file_format.RUNS_FILE] = csv_files.csv_text(csv_files.RUNS_SHAPE, runs)
    texts[file_format.COUNTS_FILE] = csv_files.csv_text(csv_files.COUNTS_SHAPE, counts)
    files = {name: text.encode() for name, text in texts.items()}
    conditions = conditions_with_runs(parse_bundle(bundle.name, files), bundle.environment)
    files[file_format.ENVIRONMENT_FILE] = writer.environment_text(conditions).encode()
    return sealed_files(bundle.name, files)


def _event_counts(bundle: Bundle, run: MeasuredRun, numbers: dict[str, int]) -> list[EventCount]:
    """A row for each event of the run's pass, then the clock. Every event counts all of the time."""
    time = numbers["R time"]
    found = []
    for event in bundle.passes()[run.pass_name]:
        if event.role not in numbers:
            raise _impossible(bundle, f"no cell has a number for its event {event.role}")
        found.append(EventCount(run.run, event.name, numbers[event.role], time, time))
    return [*found, EventCount(run.run, REGION, time, 0, 0)]


def _run_numbers(cell: pd.Series, rng: random.Random) -> dict[str, int]:
    """Quantity -> count of a run. Stores are a quarter of H, M and C; a walk overlaps half of another one."""
    factor = rng.gauss(1, NOISE)
    cycles = round(cell["runtime_cycles"] * factor)
    found = {"R cycles": cycles, "R reference cycles": cycles, "R time": round(cycles / CYCLES_PER_NS)}
    found |= {"instructions": round(cell["instructions"]), "page faults": 0, "context switches": 0}
    found["migrations"] = 0
    for symbol, column in _INPUTS.items():
        whole = round(cell[column] * (factor if symbol == "C" else 1))
        for side, part in (("loads", whole - whole // 4), ("stores", whole // 4), ("any", whole)):
            found[f"{symbol} {side}"] = part
            if symbol == "C":
                found[f"C active {side}"] = min(part, cycles) // 2
    return found


def _impossible(bundle: Bundle, found: str) -> TesseraError:
    return TesseraError(
        f"rehearsal {bundle.name}", found,
        "archive a run with its workload, platform and layouts; or remove the bundle and make another one:"
        " tests/notebooks/fake_machine.py",
        code="rehearsal",
    )  # fmt: skip


# Notebooks in git hold the outputs of the archived data: readable without running, the same at every run.
#
# What differs between runs without a meaning is taken out: execution times, widget models, cell ids.

#: Kept of a notebook's metadata.
KERNEL_METADATA = {"display_name": "Python 3", "language": "python", "name": "python3"}
#: Objects without a text of their own print their address.
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def on_archive(entry: Notebook):
    """The notebook executed on the archive, cleaned: what git should hold."""
    notebook = execute_notebook(entry, {"results_dir": ARCHIVE})
    notebook.cells = [cell for cell in notebook.cells if INJECTED not in cell.metadata.get("tags", [])]
    notebook.metadata = {"kernelspec": KERNEL_METADATA, "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02}"
        tags = cell.metadata.get("tags", [])
        cell.metadata = {"tags": tags} if tags else {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [_clean_output(output) for output in cell.outputs]
    return notebook


def refresh_outputs(entry: Notebook) -> None:
    """Write the outputs of the archive into the notebook's file."""
    import nbformat

    nbformat.write(on_archive(entry), entry.path)


def _clean_output(output):
    output.pop("execution_count", None)
    if output.output_type == "execute_result":
        output.execution_count = None
    data = output.get("data", {})
    data.pop(WIDGET, None)
    if "text/plain" in data:
        data["text/plain"] = ADDRESS.sub("", data["text/plain"])
    output.get("metadata", {}).clear()
    return output
