"""Which data a notebook reads, said in a sentence: a results tree, or the small archive of the checkout.

Also the claims of the papers beside what was obtained, and largest errors beside the printed ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.loader import platform_order, workload_order
from tessera.core.results.outcomes import NOTE_MARK, note_sentence
from tessera.core.results.report_tables import CLAIMS
from tessera.core.results.tree import ResultsTree
from tessera.fit.fit_folder import FitResult
from tessera.fit.fitting import fit_all
from tessera.fit.models.samples import SamplesTable, check_samples
from tessera.report.figures import style
from tessera.report.figures.model_errors import max_errors_table
from tessera.report.results import Results
from tessera.report.trace_marks import footnote
from tessera.report.verdicts import SCORES, VERDICTS, verdict_lines

ARCHIVE = "notebooks/data"
#: Looked for in this order where no folder is named.
CANDIDATES = ("results/default", "results/smoke", ARCHIVE)
REMEDY = "make one: ./run smoke (3 minutes) or ./run reproduce; or set results_dir = 'notebooks/data'"
NOTES = {
    "results/smoke": "tiny inputs: its numbers show that the chain works and say nothing about the papers",
    ARCHIVE: "archived from a run of config/default.yaml, see its README.md; ./run reproduce makes the whole",
}


@dataclass(frozen=True)
class PairSamples:
    """One workload on one platform. ``samples``: a row per layout, columns of the cells file."""

    workload: str
    platform: str
    samples: pd.DataFrame = field(repr=False)
    tree: ResultsTree = field(repr=False)
    note: str = ""  #: which part of the program the trace has; empty for all of it

    @cached_property
    def table(self) -> SamplesTable:
        """The samples, checked; TesseraError if models can't be fitted to them."""
        return check_samples(self.samples, f"{self.workload} on {self.platform}")

    @property
    def name(self) -> str:
        """The workload in titles; a mark says that its numbers are those of a part of the program."""
        return self.workload + (NOTE_MARK if self.note else "")

    @property
    def title(self) -> str:
        return f"{self.name} on {self.platform}"

    @property
    def provenance(self) -> str:
        return self.table.runtime_provenance

    def fit(self, models=(), folds=(6,), intervals: bool = False) -> FitResult:
        """The nine models of the paper (or those named), fitted to all layouts but `1gb`."""
        return fit_all(self.table, folds=folds, models=models, intervals=intervals)

    def at(self, layout: str) -> dict[str, float]:
        """{"R", "H", "M", "C"} of a layout, in cycles and counts."""
        row = self.table.frame.loc[layout]
        names = {"R": "runtime_cycles", "H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}
        return {symbol: float(row[column]) for symbol, column in names.items()}

    def __str__(self) -> str:
        text = f"{self.title}: {len(self.samples)} layouts, runtimes {self.provenance}"
        return f"{text}\n({NOTE_MARK} {note_sentence(self.note)})" if self.note else text


class ResultsSource:
    """A results tree, and where it is."""

    def __init__(self, results: Results, where: str):
        self.results, self.where = results, where

    @property
    def archived(self) -> bool:
        return self.where == ARCHIVE

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """(workload, platform) of the analysed pairs, workloads by name, platforms by generation."""
        found = self.results.analysed_pairs() or self.results.pairs()
        workloads = workload_order(workload for workload, _ in found)
        platforms = platform_order(platform for _, platform in found)
        return sorted(found, key=lambda pair: (workloads.index(pair[0]), platforms.index(pair[1])))

    def pair(self, workload: str = "", platform: str = "") -> PairSamples:
        """Samples of a pair; the first that matches where a name is left empty.

        Raises:
            TesseraError: no such pair; names the ones there are.
        """
        everything = [*self.pairs, *(pair for pair in self.results.pairs() if pair not in self.pairs)]
        found = [(w, p) for w, p in everything if workload in ("", w) and platform in ("", p)]
        if not found:
            workloads = ", ".join(workload_order(w for w, _ in everything))
            platforms = ", ".join(platform_order(p for _, p in everything))
            raise TesseraError(
                f"{workload or 'any workload'} on {platform or 'any platform'} in {self.where}",
                f"there are the workloads {workloads} on {platforms}",
                "name one of these, or simulate the pair: ./run reproduce",
            )
        workload, platform = found[0]
        note = self.results.trace_notes.get(workload, "")
        return PairSamples(
            workload, platform, self.results.samples(workload, platform), self.results.tree, note
        )

    def __str__(self) -> str:
        rows = self.results.simulated
        kinds = ", ".join(sorted(set(map(str, rows["runtime_provenance"]))))
        text = (
            f"Data: {self.where}: {len(rows):,} cells of {rows['workload'].nunique()} workloads on"
            f" {rows['platform'].nunique()} platforms; runtimes {kinds}"
        )
        more = [f"({NOTES[self.where]})"] if self.where in NOTES else []
        more += filter(None, [footnote(self.results.trace_notes)])
        return "\n".join([text, *more])


def open_results(results_dir: Path | str = "") -> ResultsSource:
    """A results tree by its folder (relative to the checkout, or absolute).

    Without a folder: `results/default` if it has cells, else `results/smoke`, else the archive; the
    printed source says which. A folder that is named is never replaced by another.

    Raises:
        TesseraError: no usable cell in the folder.
    """
    for name in (str(results_dir),) if str(results_dir) else CANDIDATES:
        directory = repo_root() / name
        results = Results(directory)
        if results.tree.cells.exists() and results.pairs():
            return ResultsSource(results, shown_folder(directory))
    raise TesseraError(
        f"results {results_dir or ' or '.join(CANDIDATES)}",
        "; ".join(results.notes) or "no cell with a runtime in cycles",
        REMEDY,
    )


def shown_folder(directory: Path) -> str:
    """The folder without this machine's part of the path."""
    directory, root = directory.resolve(), repo_root()
    if directory.is_relative_to(root):
        return directory.relative_to(root).as_posix()
    return "/".join(directory.parts[-2:])


# Claims of the papers beside what was obtained, and largest errors beside the printed ones.

UNPRINTED = "not published as data"


def claims(source: ResultsSource) -> pd.DataFrame:
    """The claims table (docs/contracts.md): evaluated now on a results tree, read from the archive.

    The archive holds three workloads but the claims are about all of them, so it has the table of the whole
    run that it was taken from.
    """
    if source.archived:
        return source.results.read(CLAIMS)
    from tessera.report.machines import judge_results

    return judge_results(source.results.directory).claims


def scores(table: pd.DataFrame) -> str:
    """The three scores, a line each: how many claims, and which verdicts they got."""
    return verdict_lines(table)


def verdict_counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many claims of each score and paper got which verdict; scores are never added."""
    names = table["kind"].map({kind: score.name for kind, score in SCORES.items()}).rename("score")
    found = pd.crosstab([names, table["paper"]], table["verdict"])
    return found.reindex(columns=[name for name in VERDICTS if name in found])


def findings(table: pd.DataFrame, paper: str = "", verdict: str = "", words: str = "") -> pd.DataFrame:
    """Claims as a reader wants them: section, sentence, published, obtained, verdict.

    Args:
        paper, verdict: keep these only; empty keeps all.
        words: keep claims whose sentence has this text, in any case.
    """
    kept = table[(table["kind"] == "finding") & ((table["paper"] == paper) | (paper == ""))]
    kept = kept[kept["verdict"].isin([verdict] if verdict else VERDICTS)]
    kept = kept[kept["statement"].str.contains(words, case=False, regex=False)]
    columns = ["paper", "section", "statement", "published", "obtained", "unit", "tolerance", "verdict"]
    return kept.set_index("id")[columns].rename_axis(None)


def published_errors(source: ResultsSource) -> pd.DataFrame:
    """The largest error of each model over all analysed pairs, with the value that MICRO'20 prints."""
    rows = max_errors_table(source.results, repo_root() / "reference-results")
    rows = rows[rows["scope"] == "all"]
    ours = rows[rows["source"] == "Tessera"].set_index("model")
    paper = rows[rows["source"] == "paper"].set_index("model")
    bounds = paper["bound"].map({"below": "below ", "above": "above ", "at-most": "at most "}).fillna("")
    printed = {
        name: f"{bounds[name]}{style.percent_text(paper.at[name, 'max_error'])}" for name in paper.index
    }
    rows = [
        (
            printed.get(name, UNPRINTED),
            style.percent_text(row.max_error),
            f"{row.workload} on {row.platform}",
        )
        for name, row in zip(ours.index, ours.itertuples(), strict=True)
    ]
    table = pd.DataFrame(rows, columns=["published", "obtained (simulated)", "worst pair"], index=ours.index)
    return table.rename_axis(None)
