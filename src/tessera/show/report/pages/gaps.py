"""Missing results: failed and skipped cells, pairs without cells, fits, tables and figures."""

from __future__ import annotations

import re

import pandas as pd

from tessera.results.schema.models import OF_RUN
from tessera.results.status import FAILED, other_rows
from tessera.results.tree import Tree

_COMMANDS = (re.compile(r"\./run [^`;,)\n]+"), re.compile(r"(?:tessera|sysctl|snakemake) [^`;,)\n]+"))


def page(facts) -> dict:
    errors = facts.results.read(OF_RUN["errors"])
    failed = errors[errors["max_error"].isna() & (errors["protocol"] == "all")]
    return {
        "title": "Missing",
        "recordings": _recordings(facts),
        "dropped": [
            {"workload": workload, "platform": platform, "why": why}
            for (workload, platform), why in facts.results.dropped.items()
        ],
        "groups": grouped(facts.results.gaps),
        "absent": _absent(facts),
        "pair_notes": pair_notes(facts.results.tree),
        "fits": failed.to_dict("records"),
        "tables": facts.results.notes,
        "figures": [figure for figure in facts.figures if not figure.ok],
        "pdf_problem": facts.pdf_problem,
    }


def count(facts) -> int:
    """Number of failed cells and pairs without cells, for the navigation."""
    return int((facts.results.gaps["status"] == FAILED).sum()) + len(_absent(facts))


def pair_notes(tree: Tree) -> list[dict]:
    """Notes of the pipeline on a pair: few distinct layouts, or why no model was fitted."""
    found = []
    for pattern in (tree.layouts_note("*", "*"), tree.why_no_models("*", "*", "not_*")):
        for path in tree.found(pattern):
            if note := path.read_text().strip():
                workload, platform = path.parts[-3:-1]
                found.append({"workload": workload, "platform": platform, "note": note})
    return found


def grouped(gaps: pd.DataFrame) -> list[dict]:
    """Rows that share workload, platform, status and message, with their layouts."""
    rows = []
    for (workload, platform, status, message), part in gaps.groupby(
        ["workload", "platform", "status", "message"], sort=False
    ):
        layouts = list(dict.fromkeys(part["layout"]))
        short = ", ".join(layouts[:3]) + (f" and {len(layouts) - 3} more" if len(layouts) > 3 else "")
        rows.append(
            {
                "workload": workload,
                "platform": platform,
                "status": status,
                "message": message,
                "count": len(part),
                "layouts": short,
                "remedy": remedy(message, status),
            }
        )
    return rows


def remedy(message: str, status: str) -> str:
    """The command that the message names, else the start that tries failed cells again."""
    for pattern in _COMMANDS:
        if found := pattern.search(message):
            return found.group().strip()
    return "./run reproduce" if status == FAILED else "./run --reserve reproduce"


def _recordings(facts) -> list[dict]:
    """Workloads without a trace, with reason and command."""
    table = facts.workload_table.drop_duplicates("workload")
    table = other_rows(table[table["status"] != ""])
    rows = table[["workload", "size", "status", "message"]].to_dict("records")
    return [row | {"remedy": remedy(row["message"], row["status"])} for row in rows]


def _absent(facts) -> list[dict]:
    cells = facts.results.cells
    there = set(cells[["workload", "platform"]].drop_duplicates().itertuples(index=False, name=None))
    return [
        {"workload": workload, "platform": platform}
        for workload in facts.config.get("workloads") or []
        for platform in facts.config.get("platforms") or []
        if (workload, platform) not in there
    ]
