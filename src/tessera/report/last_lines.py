"""The last lines of ``./run smoke`` and ``./run reproduce``: what ran, what it proved, where to look.

Every number is read from the results of this run. The first page of a run with tiny inputs shows the same
:func:`checks`. ``tessera report last-lines`` prints the lines again.
"""

from __future__ import annotations

import csv
import json
import re
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.machine_tables import CLOSED_FORMS, ENGINES, INVARIANTS, RECORDINGS, TIMELINE
from tessera.core.results.outcomes import FAILED, OK
from tessera.core.results.tree import ResultsTree
from tessera.lab.validation.engines import NOT_COMPARED
from tessera.record.known_recordings import DIFFERS, EQUAL
from tessera.report import claims_table, exit_status
from tessera.report.claims.claim import TO_MEASURE
from tessera.report.facts import shown_path, tiny_inputs
from tessera.report.package.zip_file import MANIFEST
from tessera.report.pages.about import grouped_gaps
from tessera.report.provenance import file_digest, load_provenance
from tessera.report.results import Results
from tessera.report.verdicts import NOT_MEASURABLE, SCORES, in_words

MOST_LINES = 13
NAME_WIDTH, LONGEST_REASON = 12, 60  #: characters
REPORT_STEPS = ("report", "smoke", "reproduce")  #: they write and check the report, after all others
TINY = "tiny inputs: no evidence about the papers"


@dataclass(frozen=True)
class Line:
    """One line: what it is about, what was found, and whether that is as it must be."""

    name: str
    text: str
    ok: bool = True


def last_lines(results_dir: Path) -> list[Line]:
    """At most :data:`MOST_LINES` lines of a results folder; the run failed if one of them is not ok."""
    results = Results(results_dir)
    tree, where = results.tree, shown_path(results_dir)
    config = load_provenance(results_dir)["config"]
    try:
        claims, problems = claims_table.read_claims(results_dir), exit_status.problems(results_dir)
    except TesseraError as error:
        claims, problems = None, [f"{error.asked}: {error.found}"]
    middle = [
        steps(tree),
        *checks(results, claims),
        tables_of_report(results_dir),
        not_proved(claims, config),
        missing(results, claims, pdf=(tree.report_folder / "report.pdf").exists()),
    ]
    report = Line(
        "report", shown_path(tree.report) if tree.report.exists() else "NOT WRITTEN", tree.report.exists()
    )
    faults = [f"{line.name} {line.text}" for line in (*middle, report) if not line.ok]
    ended = Line(_target(tree), _duration(tree))
    table = Line("claims", f"{shown_path(tree.claims)}; as a text: {where}/logs/report.log")
    if faults or problems:
        count = max(len(faults), len(problems))
        first = _short([*problems, *faults][0])
        ended = Line(ended.name, f"FAILED, {count} problem{'s' * (count > 1)}: {first}", ok=False)
        table = Line("problems", f"all: ./run tessera report check --results {where}")
    logs = Line("logs", " and ".join([*_plan(tree).get("logs", []), f"{where}/logs/"]))
    return [ended, *middle, report, table, logs]


def text_of(lines: list[Line]) -> str:
    """The lines as a terminal shows them."""
    return "\n".join(f"{line.name:<{NAME_WIDTH}} {line.text}" for line in lines)


def _short(text: str) -> str:
    """Of a reason as much as a line holds."""
    return textwrap.shorten(text, LONGEST_REASON, placeholder=" ...")


# What ran: the plan that Snakemake wrote when it started, and the rows of its timeline.


def _plan(tree: ResultsTree) -> dict:
    try:
        return json.loads(tree.steps.read_text())
    except (OSError, ValueError):
        return {}


def _target(tree: ResultsTree) -> str:
    return _plan(tree).get("target") or tree.root.resolve().name


def _ended(tree: ResultsTree) -> pd.DataFrame:
    """Rows of the last start; their column ``step`` has the job and its subject."""
    rows = Results(tree.root).read(TIMELINE, expected=False)
    rows = rows[rows["run"] == _plan(tree).get("run")]
    return rows.assign(step=[step_name(row.job, row.subject) for row in rows.itertuples()])


def step_name(job: str, subject: str) -> str:
    """``cells gups, haswell-sim``."""
    return f"{job} {subject if isinstance(subject, str) else ''}".strip()


def _duration(tree: ResultsTree) -> str:
    seconds = _ended(tree)["ended_s"].max()
    if seconds != seconds:
        return "done"
    return f"done in {int(seconds) // 60} min {int(seconds) % 60} s"


def steps(tree: ResultsTree, before_report: bool = False) -> Line:
    """How many steps ran of how many; the first that failed or did not run.

    Args:
        before_report: of the steps before the report, which is being written.
    """
    plan = _plan(tree)
    if not plan:
        return Line("steps", "not known: this folder has no record of its start")  # packages leave it out
    ended = _ended(tree)
    good = set(ended.loc[ended["outcome"] == OK, "step"])
    bad = list(ended.loc[ended["outcome"] == FAILED, "step"])
    planned, before = list(plan["steps"]), int(plan["done_before"])
    if before_report:
        planned = [name for name in planned if name not in REPORT_STEPS]
    left = [name for name in planned if name not in good and name not in bad]
    text = f"{sum(name in good for name in planned)} of {len(planned)} ran"
    if before:
        text += f" ({before} done before)"
    if bad:
        text += f"; FAILED: {_first(bad)}"
    if left:
        text += f"; NOT RUN: {_first(left)}"
    return Line("steps", text, ok=not bad and not left)


def _first(names: list[str]) -> str:
    return "".join(names[:1]) + (f" and {len(names) - 1} more" if len(names) > 1 else "")


# What the chain proves about itself.


def checks(results: Results, claims: pd.DataFrame | None) -> list[Line]:
    """Engines, closed forms, invariants of cells, self-checks: each n of n; nothing checked is a fault.

    Recordings are no fault unless one differs from a known one with the same key.
    """
    return [
        _engines(results.read(ENGINES, expected=False)),
        _closed_forms(results.read(CLOSED_FORMS, expected=False)),
        _invariants(results.read(INVARIANTS, expected=False)),
        _recordings(results.read(RECORDINGS, expected=False)),
        _self_checks(claims),
    ]


def _line(name: str, good: int, total: int, about: str, fault: str) -> Line:
    """``n of n`` and what they are; nothing checked, or a fault, is not ok."""
    if not total:
        return Line(name, "NOT CHECKED: the table is missing or has no row", ok=False)
    text = f"{good} of {total} {about}"
    return Line(name, text if good == total else f"FAILED, {text}; {_short(fault)}", ok=good == total)


def _engines(table: pd.DataFrame) -> Line:
    wrong = (table["differing"] > 0) | table["message"].astype(str).str.startswith(NOT_COMPARED)
    kinds = ", ".join(sorted({re.split(r",| \(", name)[0] for name in table["comparison"]}, key=str.lower))
    fault = "".join(
        f"{row.comparison} on {row.platform}: {row.first_difference or row.message}"
        for row in table[wrong].head(1).itertuples()
    )
    about = f"agree with the reference ({kinds})"
    return _line("engines", int((~wrong).sum()), len(table), about, fault)


def _closed_forms(table: pd.DataFrame) -> Line:
    holds = table["holds"].eq(True)
    fault = "".join(
        f"{row.case} on {row.platform}: {row.formula} is {row.expected:g}, obtained {row.obtained:g}"
        for row in table[~holds].head(1).itertuples()
    )
    return _line("closed forms", int(holds.sum()), len(table), "counts equal their formulas", fault)


def _invariants(table: pd.DataFrame) -> Line:
    broken = table["broken"] > 0
    fault = "".join(f"{row.invariant}: {row.first_broken}" for row in table[broken].head(1).itertuples())
    cells = int(table["cells"].max()) if len(table) else 0
    return _line("invariants", int((~broken).sum()), len(table), f"rules hold in {cells:,} cells", fault)


def _recordings(table: pd.DataFrame) -> Line:
    if table.empty:
        return _line("recordings", 0, 0, "", "")
    counts = Counter(table["outcome"])
    if not counts[EQUAL] + counts[DIFFERS]:
        kinds = ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
        return Line("recordings", f"none of {len(table)} compared with a known one ({kinds})")
    rest = ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if outcome not in (EQUAL, DIFFERS))
    text = f"{counts[EQUAL]} of {len(table)} equal known ones{f' ({rest})' if rest else ''}"
    differing = list(table.loc[table["outcome"] == DIFFERS, "workload"])
    if differing:
        text = f"FAILED, {text}; same key, another trace: {_first(differing)}"
    return Line("recordings", text, ok=not differing)


def _self_checks(claims: pd.DataFrame | None) -> Line:
    if claims is None:
        return Line("self-checks", "NOT CHECKED: there is no table of claims", ok=False)
    mine = claims[claims["kind"] == "invariant"]
    failing = mine[(mine["verdict"] == "FAIL") & mine["required"]]
    line = Line("self-checks", in_words(SCORES["invariant"], mine["verdict"].tolist()))
    return Line(line.name, f"FAILED, {line.text} {failing['id'].iloc[0]}", False) if len(failing) else line


def tables_of_report(results_dir: Path) -> Line:
    """Whether each table is as the report read it: a digit that was changed since is a fault."""
    total, changed = len(_hashes(results_dir)), changed_tables(results_dir)
    return _line("tables", total - len(changed), total, "are as the report read them", _first(changed))


def changed_tables(results_dir: Path) -> list[str]:
    """Tables (CSV) that are gone or differ from what the report read; empty without a report."""
    return [
        name
        for name, digest in _hashes(results_dir).items()
        if not (path := Path(results_dir) / name).is_file() or file_digest(path) != digest
    ]


def _hashes(results_dir: Path) -> dict[str, str]:
    """Table -> SHA-256 when the report read it. Tables that it wrote have copies beside its pages."""
    hashes = (load_provenance(results_dir)["hashes"] or {}).get("results") or {}
    known = {name: value for name, value in hashes.items() if name.endswith(".csv")}
    tree = ResultsTree(results_dir)
    for written in (tree.claims, tree.claims_elsewhere, tree.workloads, tree.regime):
        shown = tree.report_folder / "data" / written.name
        if shown.is_file():
            known[written.name] = file_digest(shown)
    return known | {name: digest for name, digest in _packed(tree.root).items() if name in known}


def _packed(folder: Path) -> dict[str, str]:
    """In an unpacked package: table -> SHA-256 without the names of the machine that made it."""
    listed = repo_root() / MANIFEST
    if not listed.is_file() or not folder.resolve().is_relative_to(repo_root()):
        return {}
    head = f"{folder.resolve().relative_to(repo_root()).as_posix()}/"
    with listed.open(newline="") as stream:
        return {row["path"].removeprefix(head): row["sha256"] for row in csv.DictReader(stream)}


# What the run did not show, and what would.


def not_proved(claims: pd.DataFrame | None, config: Mapping) -> Line:
    """Tiny inputs are no evidence; else what the findings rest on."""
    if tiny_inputs(config):
        return Line("not proved", TINY)
    if claims is None:
        return Line("not proved", "no claim was evaluated")
    mine = claims.loc[claims["kind"] == "finding", "verdict"].tolist()
    return Line("findings", in_words(SCORES["finding"], mine))


def missing(results: Results, claims: pd.DataFrame | None, *, pdf: bool) -> Line:
    """Cells without a number and claims without a value, with the command that most of them need.

    ``pdf``: whether the report has its PDF, or will have it: pages are written beside it.
    """
    parts = []
    groups = grouped_gaps(results.gaps)
    if groups:
        remedy = max(groups, key=lambda one: one["count"])["remedy"]
        remedy = re.sub(r"^(\./run(?: --reserve)?) reproduce$", rf"\1 {_target(results.tree)}", remedy)
        parts.append(f"{sum(one['count'] for one in groups)} cells: {remedy}")
    if claims is not None:
        reasons = claims.loc[claims["verdict"] == NOT_MEASURABLE, "reason"].astype(str)
        commands = Counter(reason.partition(TO_MEASURE)[2] for reason in reasons if TO_MEASURE in reason)
        if commands:
            parts.append(f"values of {len(reasons)} claims, most: {commands.most_common(1)[0][0]}")
    if not pdf:
        parts.append("report.pdf: page Missing")
    return Line("missing", "; ".join(parts) or "nothing")
