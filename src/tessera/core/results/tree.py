"""Paths of a results tree, `results/<config>/`; no other module contains them (docs/contracts.md).

This module imports only the standard library, because Snakemake's jobs import it while they parse. Arguments
can be Snakemake's wildcards (``tree.cells_of("{workload}", "{platform}")``) or globs
(``tree.found(tree.info("*"))``).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TRACE_NAME = "trace.tst"
LOCK = ".lock"
PREPARED_FOLDER = "prepared"
LAYOUTS_NOTE = "note.txt"  #: beside the layouts of a pair
#: In a subfolder, because readers of a folder of layouts take every CSV file in it.
PROFILE = Path("profile", "misses.csv")
#: Tables of ``models/``, by the step that writes them; for each pair and for the whole run.
FIT_TABLES = ("errors", "cv", "rsquared", "predictions", "coefficients", "protocols", "anchored",
              "learning_curve")  # fmt: skip
ADAPTIVE_TABLES = ("adaptive", "adaptive_curve")
ONE_GB_TABLES = ("one_gb", "budget")
MODEL_TABLES = (*FIT_TABLES, *ADAPTIVE_TABLES, *ONE_GB_TABLES)
REFERENCE_TABLES = ("comparison", "archived", "quarantine", "rules", "status")
#: Files with a reason, in the folder of a pair, if the step cannot compute its tables.
NOT_FITTED, NOT_REPLAYED, NOT_PREDICTED = "not_fitted", "not_replayed", "not_predicted"
#: Members of the tree that are no file's own path.
FOLDERS = {
    "all_bundles", "all_models", "all_provenance", "bundle", "bundles", "bundles_list", "machines",
    "all_reference", "all_validation", "figures", "found", "host", "kernel_parts",
    "layouts", "models_folder", "notebooks", "relative", "report_folder", "root", "studies",
}  # fmt: skip


@dataclass(frozen=True)
class ResultsTree:
    """The paths below one results folder."""

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root))

    def found(self, pattern: Path) -> list[Path]:
        """Files that match a path with ``*``, sorted."""
        return sorted(self.root.glob(str(pattern.relative_to(self.root))))

    def relative(self, path: Path) -> str:
        """The name of a path inside the tree, as docs/contracts.md prints it."""
        return path.relative_to(self.root).as_posix()

    # -- record

    def platform(self, name: str) -> Path:
        """A platform that was detected on this machine."""
        return self.root / "platforms" / f"{name}.yaml"

    def info(self, workload: str) -> Path:
        """Outcome of a recording; its trace is beside it."""
        return self.root / "traces" / workload / "info.json"

    def trace(self, workload: str) -> Path:
        """The recording."""
        return self.root / "traces" / workload / TRACE_NAME

    def prepared(self, file: str) -> Path:
        """A file of arrays that recorded programs load; absent when its rows are recorded."""
        return self.root / PREPARED_FOLDER / file

    def prepared_outcome(self, file: str) -> Path:
        """Outcome of the job that builds it: seconds, or why it failed."""
        return self.root / PREPARED_FOLDER / f"{file}.outcome.json"

    def prepared_dropped(self, file: str) -> Path:
        """Says when the file was removed."""
        return self.root / PREPARED_FOLDER / f"{file}.dropped.json"

    # -- layouts

    @property
    def layouts(self) -> Path:
        return self.root / "layouts"

    def layout(self, workload: str, platform: str, name: str) -> Path:
        """A layout: 54 of the heuristics, and ``1gb``."""
        return self.layouts / workload / platform / f"{name}.csv"

    def manifest(self, workload: str, platform: str) -> Path:
        return self.layouts / workload / platform / "manifest.csv"

    def layouts_note(self, workload: str, platform: str) -> Path:
        """Why the heuristics gave fewer layouts than asked for; empty if they gave all."""
        return self.layouts / workload / platform / LAYOUTS_NOTE

    def profile(self, workload: str, platform: str) -> Path:
        """Misses by region under 4KB pages; sliding windows are chosen from them."""
        return self.layouts / workload / platform / PROFILE

    # -- cells

    @property
    def cells(self) -> Path:
        """All cells of the run."""
        return self.root / "cells.csv"

    def cells_of(self, workload: str, platform: str) -> Path:
        """Simulated cells of one pair."""
        return self.root / "cells" / workload / f"{platform}.csv"

    # -- this machine

    @property
    def host(self) -> Path:
        return self.root / "host"

    @property
    def host_cells(self) -> Path:
        """Hybrid cells: real runs."""
        return self.host / "cells.csv"

    @property
    def host_simulated(self) -> Path:
        """The same layouts, simulated."""
        return self.host / "simulated.csv"

    @property
    def host_comparison(self) -> Path:
        return self.host / "comparison.csv"

    @property
    def host_runs(self) -> Path:
        return self.host / "runs.csv"

    @property
    def host_allocator(self) -> Path:
        return self.host / "allocator.csv"

    def host_faults(self, table: str) -> Path:
        """Latencies of page faults: ``latency``, ``comb``, ``passes`` or ``environment``."""
        return self.host / f"fault_{table}.csv"

    @property
    def host_manifest(self) -> Path:
        """Layouts of the real runs; their files are beside it."""
        return self.host / "layouts" / "manifest.csv"

    @property
    def host_chased(self) -> Path:
        """The platform of this machine with sizes and latencies fitted to its chases."""
        return self.host / "host-chased.yaml"

    @property
    def host_calibrated(self) -> Path:
        """The platform of ``host-chased.yaml`` with keys of the core set by micro-benchmarks."""
        return self.host / "host-calibrated.yaml"

    # -- models

    @property
    def all_models(self) -> Path:
        return self.root / "models"

    def models(self, table: str) -> Path:
        """A table of models of the whole run, one of :data:`MODEL_TABLES`."""
        return self.all_models / f"{table}.csv"

    def models_folder(self, workload: str, platform: str) -> Path:
        return self.all_models / workload / platform

    def models_of(self, workload: str, platform: str, table: str) -> Path:
        """A table of models of one pair."""
        return self.models_folder(workload, platform) / f"{table}.csv"

    def fit(self, workload: str, platform: str) -> Path:
        """The models of a pair, for ``tessera predict --fit``."""
        return self.models_folder(workload, platform) / "fit.json"

    def intervals(self, workload: str, platform: str) -> Path:
        """Their prediction intervals."""
        return self.models_folder(workload, platform) / "intervals.json"

    def why_no_models(self, workload: str, platform: str, what: str) -> Path:
        """Why the tables of a pair are empty: not_fitted, not_replayed or not_predicted."""
        return self.models_folder(workload, platform) / f"{what}.txt"

    # -- studies and validation

    @property
    def studies(self) -> Path:
        return self.root / "studies"

    def window(self, workload: str, accesses: int | str) -> Path:
        """A part of a trace; ``trace.tst`` is beside it."""
        return self.studies / "windows" / f"{workload}-{accesses}" / "info.json"

    def sampling(self, workload: str, table: str) -> Path:
        """``errors`` or ``intervals``."""
        return self.studies / "sampling" / workload / f"{table}.csv"

    def ablations(self, workload: str, platform: str, table: str) -> Path:
        """``shapes`` or ``cells``."""
        return self.studies / "ablations" / workload / platform / f"{table}.csv"

    def sweep(self, workload: str, platform: str) -> Path:
        return self.studies / "sweep" / workload / platform / "sweep.csv"

    def designs(self, workload: str, platform: str, table: str) -> Path:
        """``cells``, ``structures`` or ``mappings``."""
        return self.studies / "designs" / workload / platform / f"{table}.csv"

    @property
    def probes(self) -> Path:
        return self.studies / "probes" / "probes.csv"

    def transfer(self, table: str) -> Path:
        """A table of the study of transfer, of the whole run."""
        return self.studies / "transfer" / f"{table}.csv"

    def transfer_of(self, workload: str, platform: str, table: str) -> Path:
        """The same of one workload and platform; it has no ``verdicts``."""
        return self.studies / "transfer" / workload / platform / f"{table}.csv"

    def threads_sweep(self, workload: str, platform: str) -> Path:
        """Hit rate of one trace by the size of L3."""
        return self.studies / "threads" / workload / platform / "sweep.csv"

    def energy(self, table: str) -> Path:
        """``energy`` or ``savings``: E8 of the cells, with assumed constants."""
        return self.root / "energy" / f"{table}.csv"

    @property
    def placements(self) -> Path:
        """Runtime and walk cycles by the placement of page tables and data."""
        return self.studies / "numa" / "placements.csv"

    def placed_program(self, workload: str) -> Path:
        """The same of a recorded program, on a machine that is scaled with its footprint."""
        return self.studies / "numa" / "programs" / f"{workload}.csv"

    def scenario_recording(self, workload: str) -> Path:
        """Outcome of a recording from the first instruction, with the program's calls; with its trace."""
        return self.studies / "scenarios" / workload / "recording" / "info.json"

    def scenarios(self, workload: str, table: str) -> Path:
        """``cells``, ``sizes``, ``faults``, ``chunks``, ``areas`` or ``counters``."""
        return self.studies / "scenarios" / workload / f"{table}.csv"

    def virtuoso(self, workload: str, table: str) -> Path:
        """``shares`` (parts of a program's runtime), ``latency`` or ``combs`` (of faults), ``simulator``."""
        return self.studies / "virtuoso" / workload / f"{table}.csv"

    @property
    def all_validation(self) -> Path:
        return self.root / "validation"

    def validation(self, table: str) -> Path:
        return self.all_validation / f"{table}.csv"

    # -- the kernel, the papers

    @property
    def kernel_parts(self) -> Path:
        return self.root / "kernel"

    def kernel(self, part: str, file: str) -> Path:
        """A file of a part of the kernel; ``attempt.json`` has the outcome of the part."""
        return self.kernel_parts / part / file

    @property
    def all_reference(self) -> Path:
        return self.root / "reference"

    def reference(self, table: str) -> Path:
        """Comparison of printed, archived and obtained numbers, one of :data:`REFERENCE_TABLES`."""
        return self.all_reference / f"{table}.csv"

    # -- bundles of real machines

    @property
    def machines(self) -> ResultsTree:
        """The tree of what real machines measured; only its cells are measured, so no table has both."""
        return ResultsTree(self.root / "machines")

    @property
    def all_bundles(self) -> Path:
        """Of :attr:`machines`: a copy of each bundle that took part, also of those that decide nothing."""
        return self.root / "bundles"

    def bundle(self, identity: str) -> Path:
        return self.all_bundles / identity

    @property
    def bundles_list(self) -> Path:
        """Of :attr:`machines`: the bundles that took part, and what bars each."""
        return self.root / "bundles.json"

    def bundles(self) -> list[Path]:
        """Folders of :attr:`all_bundles`, by id; not those that are being written."""
        return sorted(path for path in self.all_bundles.glob("[!.]*") if path.is_dir())

    # -- the report

    @property
    def claims(self) -> Path:
        return self.root / "claims.csv"

    @property
    def claims_elsewhere(self) -> Path:
        """Findings on processors of other classes than the paper's."""
        return self.root / "claims_elsewhere.csv"

    @property
    def workloads(self) -> Path:
        return self.root / "workloads.csv"

    @property
    def regime(self) -> Path:
        return self.root / "regime.csv"

    @property
    def figures(self) -> Path:
        return self.root / "figures"

    def figure(self, name: str, suffix: str) -> Path:
        """A figure (``svg``) or its data (``csv``)."""
        return self.figures / f"{name}.{suffix}"

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    def notebook(self, name: str) -> Path:
        """A notebook that was executed."""
        return self.notebooks / f"{name}.html"

    @property
    def report_folder(self) -> Path:
        return self.root / "report"

    @property
    def report(self) -> Path:
        """The report's first page."""
        return self.report_folder / "index.html"

    # -- the archive of the notebooks (notebooks/data), used instead of traces

    def archived_profile(self, workload: str, platform: str) -> Path:
        """Misses by region; only in ``notebooks/data``."""
        return self.root / "profiles" / f"{workload}-{platform}.csv"

    def archived_designs(self, workload: str, platform: str) -> Path:
        """Counts of designs; only in ``notebooks/data``."""
        return self.root / "designs" / f"{workload}-{platform}.csv"

    # -- provenance, lock, cache, logs

    @property
    def all_provenance(self) -> Path:
        return self.root / "provenance"

    def provenance(self, part: str) -> Path:
        """Configuration, versions, machine and hashes of a part of the run."""
        return self.all_provenance / f"{part}.json"

    @property
    def timeline(self) -> Path:
        """Start and end of every job."""
        return self.all_provenance / "timeline.csv"

    @property
    def lock(self) -> Path:
        """The run that works on this folder."""
        return self.root / LOCK

    @property
    def cache(self) -> Path:
        """Finished cells, by content."""
        return self.root / "cache"

    def log(self, name: str) -> Path:
        """Output of a job."""
        return self.root / "logs" / f"{name}.log"

    @property
    def steps(self) -> Path:
        """The steps that the last start planned: ``run, target, steps, done_before, logs``."""
        return self.root / "logs" / "steps.json"

    def benchmark(self, name: str) -> Path:
        """Time and memory of a job, measured by Snakemake."""
        return self.root / "benchmarks" / f"{name}.tsv"
