"""What a page walk costs before its first load: the evidence, the two ends, and claims that depend on it.

No source decides the value (``evidence.csv``). So the main job runs with the lower end,
``config/walk-cost.yaml`` with the upper one, and ``both_ends.csv`` has the verdicts of both. A claim whose
verdict differs between the ends depends on the walk's cost.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import check_target, write_text
from tessera.core.results.loader import Loader
from tessera.core.results.report_tables import CLAIMS
from tessera.lab.study import Run, study

# The two ends of a walk's cost, in cycles. They were committed before any run with the upper one.
#
# The rule: a source that may decide (``evidence.csv``) gives the value. Without one, two ends are run. The
# lower end is 0, the default of the platforms. The upper end is the cost of a walk beside its loads in a
# chase with nested paging, 29.0 - 7.3 cycles, rounded up: nested walks cost more than those of a bare
# machine. The residues of the papers' own counters (7.4 and 16.6 cycles) are between the ends, and decide
# nothing.

KEY = "walker.begin_cycles"
LOWER_CYCLES = 0
UPPER_CYCLES = 22


# ``evidence.csv``: what is known of a walk's cost before its first load, and whether a source may decide it.
#
# A paper's own numbers may bound the value or stand beside it. They never decide: claims of the same paper
# are judged with the value. The reader refuses a file that breaks this rule.

EVIDENCE_FILE = Path(__file__).with_name("evidence.csv")
EVIDENCE_COLUMNS = ("source", "processor", "what", "cycles_low", "cycles_high", "may_decide", "why")
#: papers whose claims are judged with the value; their sources begin with these words
JUDGED = ("MICRO'20", "OPERA", "Mitosis")
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True)
class WalkCostBound:
    """One source; ``None``: it gives no such bound."""

    source: str
    processor: str
    what: str
    cycles_low: float | None
    cycles_high: float | None
    may_decide: bool
    why: str


def sources(path: Path = EVIDENCE_FILE) -> tuple[WalkCostBound, ...]:
    """All sources, in the order of the file.

    Raises:
        TesseraError: other columns, an empty text, a wrong number, or a judged paper that would decide.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if tuple(reader.fieldnames or ()) != EVIDENCE_COLUMNS:
            raise _bad_evidence(
                path, 1, f"columns {reader.fieldnames}; expected {', '.join(EVIDENCE_COLUMNS)}"
            )
        return tuple(_source(path, number, row) for number, row in enumerate(reader, 2))


def deciding(found: tuple[WalkCostBound, ...]) -> tuple[WalkCostBound, ...]:
    """The sources that may decide the value."""
    return tuple(one for one in found if one.may_decide)


def _source(path: Path, line: int, row: dict) -> WalkCostBound:
    if None in row or None in row.values():
        raise _bad_evidence(path, line, f"not {len(EVIDENCE_COLUMNS)} cells")
    if empty := [name for name in ("source", "processor", "what", "why") if not row[name].strip()]:
        raise _bad_evidence(path, line, f"{', '.join(empty)} is empty")
    if row["may_decide"] not in _TRUTH:
        raise _bad_evidence(path, line, f"may_decide is '{row['may_decide']}'; it must be true or false")
    low, high = (_cycles(path, line, row, name) for name in ("cycles_low", "cycles_high"))
    if low is not None and high is not None and low > high:
        raise _bad_evidence(path, line, f"cycles_low {low:g} is above cycles_high {high:g}")
    decides = _TRUTH[row["may_decide"]]
    if decides and (low is None or high is None):
        raise _bad_evidence(path, line, "a source that may decide needs cycles_low and cycles_high")
    if decides and row["source"].startswith(JUDGED):
        raise _bad_evidence(path, line, f"'{row['source']}' would decide claims of its own paper")
    return WalkCostBound(row["source"], row["processor"], row["what"], low, high, decides, row["why"])


def _cycles(path: Path, line: int, row: dict, name: str) -> float | None:
    if not row[name]:
        return None
    try:
        value = float(row[name])
    except ValueError:
        value = -1.0
    if not 0 <= value < 4000:  # as the simulator's key
        raise _bad_evidence(path, line, f"{name} is '{row[name]}', not a number of cycles from 0 to 4000")
    return value


def _bad_evidence(path: Path, line: int, found: str) -> TesseraError:
    return TesseraError(
        f"evidence {path.name} line {line}", found, "see docs/explain/studies.md, Cost of a walk"
    )


# ``both_ends.csv``: simulated claims at both ends of a walk's cost. The study walk-cost writes it.

VERDICTS_FILE = Path(__file__).with_name("both_ends.csv")
#: column ``depends_on`` of claims.csv, where verdicts differ between the ends
DEPENDS_ON = "the walk's cost"
REMEDY = "write it again: ./run tessera lab show walk-cost"


class Ends(NamedTuple):
    """One claim at both ends; the fields are the columns of the file."""

    id: str
    verdict_lower: str
    verdict_upper: str
    obtained_lower: str
    obtained_upper: str

    @property
    def differs(self) -> bool:
        return self.verdict_lower != self.verdict_upper


def read_verdicts(path: Path = VERDICTS_FILE) -> tuple[Ends, ...]:
    """All claims of the file, in its order.

    Raises:
        TesseraError: other columns, an empty identifier or verdict, or a claim twice.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream)) or [[]]
    if tuple(header) != Ends._fields:
        raise _bad_verdicts(path, 1, f"columns {', '.join(header)}; expected {', '.join(Ends._fields)}")
    found: dict[str, Ends] = {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(Ends._fields) or not all(row[:3]):
            raise _bad_verdicts(path, number, "a claim needs an identifier and two verdicts")
        if row[0] in found:
            raise _bad_verdicts(path, number, f"claim '{row[0]}' is there twice")
        found[row[0]] = Ends(*row)
    return tuple(found.values())


@cache
def committed() -> tuple[Ends, ...]:
    """The committed file."""
    return read_verdicts()


def dependent() -> frozenset[str]:
    """Claims whose verdict differs between the ends."""
    return frozenset(one.id for one in committed() if one.differs)


def _bad_verdicts(path: Path, line: int, found: str) -> TesseraError:
    return TesseraError(f"verdicts at both ends, {path.name} line {line}", found, REMEDY)


# From the claims of two runs, one for each end, to the verdicts at both.
#
# The claims are those with a simulated value at one end at least. Measured and printed values do not depend
# on the simulated cost, and differ between runs for other reasons.

SIMULATED, NOT_OBTAINED = "simulated", ""
STUDIES = "studies/"  #: begins the reason of a claim that lacks a study; the upper end makes none
CELL = ["workload", "platform", "layout"]
MACHINE = "host"  #: platforms that begin so are this machine


def show_verdicts(*rows: Ends) -> None:
    """Print the claims whose verdicts differ, and how many do."""
    differ = [row for row in rows if row.differs]
    for row in differ:
        print(f"{row.id}: {row.verdict_lower} at the lower end, {row.verdict_upper} at the upper end")
    print(f"{len(rows)} claims; {len(differ)} depend on the walk's cost")


@study(show=show_verdicts)
def walk_cost(run: Run, lower: Path, upper: Path) -> tuple[Ends, ...]:
    """Compare the verdicts of two runs: walks that cost 0 and 22 cycles before their first load.

    Both runs need a report, and the same good cells. Claims whose verdict differs depend on the walk's cost.
    Writes both_ends.csv: verdicts at both ends, one row per claim with a simulated value.

    Example, after ./run reproduce and ./run reproduce --configfile config/walk-cost.yaml:
      ./run tessera lab run walk-cost lower=results/default upper=results/walk-cost --out /tmp/walk-cost

    Args:
        lower: results of the run where a walk begins at once.
        upper: results of config/walk-cost.yaml.

    Raises:
        TesseraError: a folder is not a run of its end, or the runs have other cells or claims.
    """
    out = run.file(VERDICTS_FILE.name)
    check_target(out)
    runs = {LOWER_CYCLES: Loader(lower), UPPER_CYCLES: Loader(upper)}
    for cycles, run in runs.items():
        _check_end(run, cycles)
    _check_cells(*runs.values())
    rows = ends(*(run.read(CLAIMS) for run in runs.values()))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Ends._fields, *rows])
    write_text(out, text.getvalue())
    return tuple(rows)


def ends(lower: pd.DataFrame, upper: pd.DataFrame) -> list[Ends]:
    """One row per claim with a simulated value, from the claims of both runs; none about studies."""
    if list(lower["id"]) != list(upper["id"]):
        other = sorted(set(lower["id"]) ^ set(upper["id"]))
        found = f"only one of them has {', '.join(other)}" if other else "they are in another order"
        raise TesseraError(
            "claims of both runs",
            found,
            "write both reports again: ./run tessera report render --results ...",
        )
    both = lower.merge(upper, on="id", suffixes=("_lower", "_upper"), validate="one_to_one")
    kinds = both[["provenance_lower", "provenance_upper"]]
    known = kinds.isin([SIMULATED, NOT_OBTAINED]).all(axis=1) & (kinds == SIMULATED).any(axis=1)
    known &= ~both["reason_upper"].astype(str).str.startswith(STUDIES)
    return [Ends(*map(str, row)) for row in both.loc[known, list(Ends._fields)].itertuples(index=False)]


def _check_end(run: Loader, cycles: int) -> None:
    """The run's configuration sets the cost of this end; the lower one changes no value."""
    wanted = {KEY: cycles} if cycles != LOWER_CYCLES else {}
    try:
        changes = json.loads((run.tree.root / "provenance" / "config.json").read_text()).get("changes", {})
    except (OSError, ValueError):
        changes = None
    if changes is None:
        found = "it has no provenance/config.json that can be read"
    elif changes != wanted:
        found = f"its configuration has the changes {changes or 'none'}; this end has {wanted or 'none'}"
    else:
        return
    remedy = "give the folder of the default run as lower= and that of config/walk-cost.yaml as upper="
    raise TesseraError(f"results {run.tree.root}", found, remedy)


def _check_cells(lower: Loader, upper: Loader) -> None:
    """Both runs have the same good simulated cells: a cell that failed must not look like a cost."""
    good = []
    for run in (lower, upper):
        cells = run.good[~run.good["platform"].str.startswith(MACHINE)]
        good.append(set(map(tuple, cells[CELL].to_numpy())))
    if lacking := sorted(good[0] ^ good[1]):
        first = ", ".join(lacking[0])
        raise TesseraError(
            f"cells of {lower.tree.root} and {upper.tree.root}",
            f"{len(lacking)} cells are good in one of them only; the first is {first}",
            "run both configurations again: ./run reproduce tries failed rows again",
            exit_code=EXIT_FAILED,
        )
