"""The sweep over assumed values: which conclusions survive."""

from __future__ import annotations

from tessera.judge.studies import sweep, words
from tessera.judge.studies.conclusions import get
from tessera.judge.studies.tables import read, truth
from tessera.judge.studies.variants import BASELINE


def page(facts) -> dict:
    table = read(facts.results.directory, "sweep")
    table["survives"], table["holds"] = truth(table["survives"]), truth(table["holds"])
    table["baseline_holds"] = truth(table["baseline_holds"])
    judged = table[(table["status"] == "ok") & (table["key"] != BASELINE)]
    found = sweep.survival(table) if len(judged) else None
    return {
        "title": "Assumptions",
        "figure": facts.figure("sweep"),
        "sentences": words.sweep(found, table) if found is not None else [],
        "cost": table[(table["key"] == BASELINE) & (table["status"] == "ok")]
        .drop_duplicates(["workload", "platform"])
        .to_dict("records"),
        "rows": [_row(row) for row in found.to_dict("records")] if found is not None else [],
        "left_out": _left_out(table),
        "failed": table[table["status"] == "failed"].to_dict("records"),
    }


def _row(row: dict) -> dict:
    conclusion = get(row["conclusion"])
    holds = row["baseline_holds"]
    return row | {
        "sentence": conclusion.sentence,
        "what": conclusion.number,
        "baseline": "holds" if holds is True else "does not hold" if holds is False else "not determined",
        "share": row["survives"] / row["points"] if row["points"] else None,
    }


def _left_out(table) -> list[dict]:
    rows = table[table["status"].isin(["refused", "skipped"])]
    return rows[["workload", "platform", "key", "alternative", "status", "message"]].to_dict("records")
