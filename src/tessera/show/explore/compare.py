"""Claims of the papers beside what was obtained, and largest errors beside the printed ones."""

from __future__ import annotations

import pandas as pd

from tessera.core.paths import repo_root
from tessera.results.schema.shown import CLAIMS
from tessera.show.explore.source import Source
from tessera.show.figures import style
from tessera.show.figures.fig2_max_errors import table as largest_errors
from tessera.show.verdicts import SCORES, VERDICTS, counts

UNPRINTED = "not published as data"


def claims(source: Source) -> pd.DataFrame:
    """The claims table (docs/contracts.md): evaluated now on a results tree, read from the archive.

    The archive holds three workloads but the claims are about all of them, so it has the table of the whole
    run that it was taken from.
    """
    if source.archived:
        return source.results.read(CLAIMS)
    from tessera.judge.machines import of_results

    return of_results(source.results.directory).claims


def scores(table: pd.DataFrame) -> str:
    """The three scores, a line each: how many claims, and which verdicts they got."""
    return counts(table)


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


def published_errors(source: Source) -> pd.DataFrame:
    """The largest error of each model over all analysed pairs, with the value that MICRO'20 prints."""
    rows = largest_errors(source.results, repo_root() / "reference-results")
    rows = rows[rows["scope"] == "all"]
    ours = rows[rows["source"] == "Tessera"].set_index("model")
    paper = rows[rows["source"] == "paper"].set_index("model")
    bounds = paper["bound"].map({"below": "below ", "above": "above ", "at-most": "at most "}).fillna("")
    printed = {name: f"{bounds[name]}{style.percent(paper.at[name, 'max_error'])}" for name in paper.index}
    rows = [
        (
            printed.get(name, UNPRINTED),
            style.percent(row.max_error),
            f"{row.workload} on {row.platform}",
        )
        for name, row in zip(ours.index, ours.itertuples(), strict=True)
    ]
    table = pd.DataFrame(rows, columns=["published", "obtained (simulated)", "worst pair"], index=ours.index)
    return table.rename_axis(None)


__all__ = ["claims", "findings", "published_errors", "scores", "verdict_counts"]
