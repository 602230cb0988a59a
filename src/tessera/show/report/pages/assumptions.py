"""The sweep over assumed values: which conclusions survive."""

from __future__ import annotations

from tessera.judge.studies import sentences, sweep
from tessera.judge.studies.conclusions import get
from tessera.judge.studies.variants import BASELINE
from tessera.results.schema.studies import SWEEP
from tessera.results.status import FAILED, ok_rows


def page(facts) -> dict:
    table = facts.results.read(SWEEP)
    good = ok_rows(table)
    found = sweep.survival(table) if (good["key"] != BASELINE).any() else None
    return {
        "title": "Assumptions",
        "figure": facts.figure("sweep"),
        "sentences": sentences.sweep(found, table) if found is not None else [],
        "cost": good[good["key"] == BASELINE].drop_duplicates(["workload", "platform"]).to_dict("records"),
        "rows": [_row(row) for row in found.to_dict("records")] if found is not None else [],
        "left_out": _left_out(table),
        "failed": table[table["status"] == FAILED].to_dict("records"),
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
