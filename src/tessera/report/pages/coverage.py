"""Coverage: each figure, table and printed number of five papers, with verdicts of this run or a reason."""

from __future__ import annotations

from tessera.core.errors import TesseraError
from tessera.core.results.os_tables import FAULT_SHARES
from tessera.lab.faults.virtuoso_claims import judge_claims
from tessera.report import coverage
from tessera.report.page_elements import figure_anchor, is_written
from tessera.report.pages.claims import choice
from tessera.report.verdicts import ordered_verdicts

TITLE = "Coverage of the papers"


def coverage_page(facts) -> dict:
    try:
        covered = coverage.load_coverage()
    except TesseraError as error:  # a new claim has no row yet: the rest of the report is written
        return {"title": TITLE, "problem": str(error)}
    verdicts = verdicts_of(facts)
    rows = [_shown(paper, row, covered, verdicts, facts) for paper in covered.papers for row in paper.rows]
    return {
        "title": TITLE,
        "problem": "",
        "rows": rows,
        "papers": [_counted(paper, covered) for paper in covered.papers],
        "reasons": covered.reasons,
        "choices": [
            choice("paper", "paper", list(coverage.NAMES.items())),
            choice("reason", "reason", [(row["reason"], row["reason"]) for row in rows if row["reason"]]),
        ],
    }


def verdicts_of(facts) -> dict[str, str]:
    """Claim -> its verdict in this run, and of the study of page faults if it ran."""
    shares = facts.results.read(FAULT_SHARES, expected=False)
    tables = [facts.claims, *([judge_claims(shares)] if len(shares) else [])]
    found = (dict(zip(table["id"], table["verdict"], strict=True)) for table in tables)
    return {name: verdict for table in found for name, verdict in table.items() if verdict}


def _shown(paper, row, covered, verdicts: dict[str, str], facts) -> dict:
    """A row; ``groups``: each verdict with its claims; ``open``: claims without one in this run."""
    judged = {name: verdicts[name] for name in row.claims if name in verdicts}
    figures = [(name, figure_anchor(name, facts)) for name in row.figures]
    return {
        "paper": paper.name,
        "short": coverage.NAMES[paper.name],
        "anchor": f"{paper.name}-{row.item.lower().replace(' ', '-')}",
        "item": row.item,
        "says": row.says,
        "groups": [
            (verdict, [(name, _place(name)) for name, own in judged.items() if own == verdict])
            for verdict in ordered_verdicts(judged.values())
        ],
        "open": [name for name in row.claims if name not in judged],
        "reason": row.reason,
        "words": coverage.beside_reason(row),
        "figures": figures,
        "pages": [
            (name.removesuffix(".html"), name if is_written(name, facts) else "") for name in row.pages
        ],
        "commands": row.commands,
    }


def _place(claim: str) -> str:
    """Where the report shows a claim."""
    return "faults.html" if claim in coverage.STUDY_RULES else f"claims.html#{claim}"


def _counted(paper, covered) -> dict:
    judged, others, without = covered.kinds_of_rows(paper)
    counts = {kind.lower() + "s": paper.count(kind) for kind in ("Figure", "Table", "Section")}
    return {
        "name": coverage.NAMES[paper.name], "counted": paper.counted, **counts,
        "judged": judged, "others": others, "without": without,
    }  # fmt: skip
