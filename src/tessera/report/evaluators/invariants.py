"""Invariants of cells, generated layouts and fitted models, over all that a run has."""

from __future__ import annotations

import csv

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.results.loader import Pair, pairs_of
from tessera.core.results.outcomes import ok_rows, other_rows
from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.report.claims.claim import Missing, Outcome, Value
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import evaluator
from tessera.report.evaluators.model_errors import ALL_SAMPLES, fitted_predictions

# Invariants of the cells, over every good row of the run.

LEVELS = ("l1d", "l2", "l3", "dram")


def _judged_rows(value: float, rows: pd.DataFrame) -> Outcome:
    kinds = set(rows["tlb_provenance"])
    return Outcome(value, "measured" if kinds == {"measured"} else "simulated", "any")


def _rows_with(evidence: Evidence, *columns: str) -> pd.DataFrame:
    rows = evidence.cells.dropna(subset=list(columns))
    if rows.empty:
        raise Missing(f"no cell has {', '.join(columns)}")
    return rows


@evaluator
def translations_per_access(claim, evidence) -> Outcome:
    """Largest (H + M) / accesses."""
    rows = _rows_with(evidence, "stlb_hits", "stlb_misses", "accesses")
    rows = rows[rows["accesses"] > 0]
    if rows.empty:
        raise Missing("no cell has a number of accesses")
    share = (rows["stlb_hits"] + rows["stlb_misses"]) / rows["accesses"]
    return _judged_rows(float(share.max()), rows)


@evaluator
def smallest_walk_cycles(claim, evidence) -> Outcome:
    """Smallest number of walk cycles of any cell."""
    rows = _rows_with(evidence, "walk_cycles")
    return _judged_rows(float(rows["walk_cycles"].min()), rows)


@evaluator
def walk_references(claim, evidence, layout: str) -> Outcome:
    """Most references per walk that the walker makes to the caches under one layout."""
    rows = _rows_with(evidence, "walker_l1d_loads", "stlb_misses")
    rows = rows[(rows["layout"] == layout) & (rows["stlb_misses"] > 0)]
    if rows.empty:
        raise Missing(f"no cell of layout {layout} has misses and walker references")
    return _judged_rows(float((rows["walker_l1d_loads"] / rows["stlb_misses"]).max()), rows)


@evaluator
def cache_levels_not_nested(claim, evidence) -> Outcome:
    """Cells where a level sees more references than the one in front of it."""
    names = [f"{agent}_{level}_loads" for agent in ("program", "walker") for level in LEVELS]
    rows = _rows_with(evidence, *names)
    wrong = pd.Series(False, index=rows.index)
    for front, behind in zip(names, names[1:], strict=False):
        if front.split("_")[0] == behind.split("_")[0]:
            wrong |= rows[behind] > rows[front] * (1 + 1e-9)
    return _judged_rows(int(wrong.sum()), rows)


@evaluator
def unexplained_cells(claim, evidence) -> Outcome:
    """Cells that failed or were skipped without a message."""
    rows = evidence.all_cells
    if rows.empty:
        raise Missing("cells.csv has no rows")
    silent = other_rows(rows)["message"].str.strip() == ""
    return _judged_rows(int(silent.sum()), ok_rows(rows))


# Invariants of the generated layouts (``layouts/<workload>/<platform>/``).
#
# Their provenance is ``simulated``: hot regions come from simulated misses.

LARGE_PAGES = (PAGE_2MB, PAGE_1GB)


def _simulated(value: float) -> Outcome:
    return Outcome(value, "simulated")


def _mosaics(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["layout"] != ALL_1GB]


@evaluator
def layout_count(claim, evidence) -> Outcome:
    """Smallest number of layouts of a pair, 1GB not counted."""
    return _simulated(min(len(_mosaics(table)) for table in evidence.manifests().values()))


@evaluator
def unexplained_duplicates(claim, evidence, enough: int) -> Outcome:
    """Pairs with fewer than ``enough`` distinct layouts and no ``note.txt`` that says why."""
    unexplained = 0
    for pair, table in evidence.manifests().items():
        distinct = int((_mosaics(table)["duplicate_of"] == "").sum())
        unexplained += distinct < enough and not _duplicates_note(evidence, pair)
    return _simulated(unexplained)


def _duplicates_note(evidence: Evidence, pair: Pair) -> str:
    path = evidence.tree.layouts_note(*pair)
    return path.read_text().strip() if path.exists() else ""


@evaluator
def growing_ends_wrong(claim, evidence) -> Outcome:
    """Pairs where growing-0 has 2MB pages, or growing-8 not the most of them."""
    wrong = 0
    for table in evidence.manifests().values():
        pages = _mosaics(table).set_index("layout")["pages_2mb"]
        wrong += pages.get(ALL_4KB) != 0 or pages.get(ALL_2MB) != pages.max()
    return _simulated(int(wrong))


@evaluator
def file_pool_windows(claim, evidence) -> Outcome:
    """Windows of large pages in the file pool, over all layout files."""
    count = 0
    for pair, table in evidence.manifests().items():
        for name in table["layout"]:
            path = evidence.tree.layout(*pair, name)
            if path.exists():
                with path.open(newline="") as lines:  # 3000 small files: pandas would take ten times as long
                    count += sum(
                        row["type"] == "file" and int(row["pageSize"]) in LARGE_PAGES
                        for row in csv.DictReader(lines)
                    )
    return _simulated(count)


# Invariants of fitted models, over every pair in the models' tables.

#: Below this share of the runtimes' squares, a squared error is rounding.
NEGLIGIBLE = 1e-18


def outcome_over(evidence: Evidence, value: Value, pairs: list[Pair]) -> Outcome:
    """An outcome over ``pairs``: measured if all of them are, else simulated."""
    kinds = {evidence.provenances.get(pair, "simulated") for pair in pairs}
    return Outcome(value, "measured" if kinds == {"measured"} else "simulated", "any")


def _nonzero_terms(evidence: Evidence, model: str) -> tuple[pd.Series, list[Pair]]:
    """Nonzero coefficients of each pair, intercept not counted; and the pairs."""
    table = evidence.models("coefficients")
    table = table[(table["model"] == model) & (table["term"] != "1")]
    if table.empty:
        raise Missing(f"no coefficients of {model}")
    counts = (table["coefficient"] != 0).groupby([table["workload"], table["platform"]]).sum()
    return counts, pairs_of(table)


@evaluator
def nonzero_coefficients(claim, evidence, model: str) -> Outcome:
    """Largest number of nonzero coefficients, intercept not counted."""
    counts, pairs = _nonzero_terms(evidence, model)
    return outcome_over(evidence, int(counts.max()), pairs)


@evaluator
def term_counts(claim, evidence, model: str) -> Outcome:
    """Least and largest number of nonzero coefficients over the pairs, intercept not counted."""
    counts, pairs = _nonzero_terms(evidence, model)
    return outcome_over(evidence, {"least": int(counts.min()), "most": int(counts.max())}, pairs)


@evaluator
def anchor_error(claim, evidence, anchors: dict) -> Outcome:
    """Largest relative error of each model at the layouts that it must pass through."""
    table = evidence.models("predictions")
    worst = []
    for pair in pairs_of(table):
        present = {row["model"] for row in evidence.records("predictions", pair)}
        for model in sorted(present & set(anchors)):
            errors = fitted_predictions(evidence, pair, model)["optimism"].abs()
            worst += [float(errors[layout]) for layout in anchors[model] if layout in errors.index]
    if not worst:
        raise Missing("no model predicts its anchors")
    return outcome_over(evidence, max(worst), pairs_of(table))


@evaluator
def nested_squared_errors(claim, evidence, models: list) -> Outcome:
    """Largest ratio of squared errors, a model over the one before it (a special case of it)."""
    table = evidence.models("predictions")
    ratios = []
    for pair in pairs_of(table[table["model"].isin(models)]):
        errors = []
        for model in models:
            rows = fitted_predictions(evidence, pair, model)
            total = ((rows["predicted"] - rows["runtime_cycles"]) ** 2).sum()
            errors.append(max(float(total / (rows["runtime_cycles"] ** 2).sum()), NEGLIGIBLE))
        ratios += [after / before for before, after in zip(errors, errors[1:], strict=False)]
    if not ratios:
        raise Missing(f"no predictions of {', '.join(models)}")
    return outcome_over(evidence, max(ratios), pairs_of(table))


@evaluator
def geomean_over_max(claim, evidence) -> Outcome:
    """Largest ratio of geometric mean error to largest error."""
    table = evidence.models("errors").dropna(subset=["max_error", "geomean_error"])
    table = table[table["max_error"] > 0]
    if table.empty:
        raise Missing("no errors of models")
    ratio = float((table["geomean_error"] / table["max_error"]).max())
    return outcome_over(evidence, ratio, pairs_of(table))


@evaluator
def samples_in_excess(claim, evidence) -> Outcome:
    """Largest excess of fitted samples over the good cells without the 1GB layout."""
    table = evidence.models("errors").dropna(subset=["samples"])
    table = table[table["protocol"] == ALL_SAMPLES]
    excess = []
    for pair in pairs_of(table):
        good = len(evidence.samples(pair).index.difference([ALL_1GB]))
        rows = pair.rows(table)
        excess.append(int(rows["samples"].max()) - good)
    if not excess:
        raise Missing("no model was fitted")
    return outcome_over(evidence, max(excess), pairs_of(table))


@evaluator
def hybrid_pairs_fitted(claim, evidence) -> Outcome:
    """Number of pairs with hybrid cells among those that models were fitted to."""
    pairs = pairs_of(evidence.models("errors"))
    hybrid = [pair for pair in pairs if evidence.provenances.get(pair) == "hybrid"]
    return outcome_over(evidence, len(hybrid), pairs)
