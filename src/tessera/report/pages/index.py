"""Summary: what was run, how many claims got which verdict, and the claims themselves."""

from __future__ import annotations

from tessera.report.claims import shown
from tessera.report.pages.models import anchor
from tessera.report.verdicts import VERDICTS, objection

KINDS = ("finding", "arithmetic", "invariant")  #: in the order of the page: what is most asked for first


def _kind_order(kinds):
    return kinds.map(lambda kind: KINDS.index(kind) if kind in KINDS else len(KINDS))


def page(facts) -> dict:
    claims = [
        {**shown(row), "objection": objection(row), "link": anchor(row["figure"])}
        for row in facts.claims.sort_values("kind", key=_kind_order, kind="stable").to_dict("records")
    ]
    counts = [
        {"verdict": verdict, "count": sum(row["verdict"] == name for row in claims)}
        for name, verdict in VERDICTS.items()
    ]
    return {
        "title": "Summary",
        "summary": summary(facts),
        "tiles": _tiles(facts, claims),
        "notes": _notes(facts),
        "claims": claims,
        "claims_reason": facts.claims_reason,
        "counts": counts,
        "kinds": [(kind, sum(row["kind"] == kind for row in claims)) for kind in KINDS],
        "check_command": f"./run tessera report check --results {facts.where}",
        "main_figure": facts.figure("fig2"),
    }


def summary(facts) -> str:
    """What was run, in one or two sentences."""
    cells = facts.results.simulated
    if cells.empty:
        return "No cell has a number yet: the pages say what is missing and which command makes it."
    workloads, platforms, layouts = (cells[name].nunique() for name in ("workload", "platform", "layout"))
    text = (
        f"{_count(workloads, 'workload')} on {_count(platforms, 'simulated platform')} under up to "
        f"{layouts} mosaics of page sizes; every runtime model fitted to each pair and compared to what the "
        "papers print."
    )
    hybrid = len(facts.results.hybrid)
    return text + (f" {_count(hybrid, 'layout')} also ran for real on this machine." if hybrid else "")


def _tiles(facts, claims: list[dict]) -> list[dict]:
    status = facts.results.cells["status"].value_counts()
    pairs = facts.results.pairs()
    fitted = facts.results.errors_of_all[["workload", "platform"]].drop_duplicates()
    dropped = len(facts.results.dropped)
    findings = [row["verdict"] for row in claims if row["kind"] == "finding"]
    exact = [row["verdict"] for row in claims if row["kind"] != "finding"]
    machine = facts.provenance.get("machine") or {}
    engine = (facts.provenance.get("engine") or {}).get("engine", "not recorded")
    missing = [f"{status[name]} {name}" for name in ("failed", "skipped") if status.get(name)]
    return [
        _tile("findings that hold", findings),
        _tile("arithmetic, invariants", exact),
        {
            "label": "good cells",
            "value": int(status.get("ok", 0)),
            "detail": ", ".join(missing) or "none missing",
        },
        {
            "label": "workload x platform",
            "value": len(pairs),
            "detail": f"{len(fitted)} fitted, {dropped} not TLB-sensitive"
            if dropped
            else f"{len(fitted)} fitted",
        },
        {"label": "engine", "value": engine, "detail": machine.get("cpu_model") or ""},
    ]


def _tile(label: str, verdicts: list[str]) -> dict:
    judged = [name for name in verdicts if name != "NOT-MEASURABLE-HERE"]
    passed = sum(name in ("REPRODUCED", "HOLDS-IN-SIMULATION") for name in judged)
    unknown = len(verdicts) - len(judged)
    return {
        "label": label,
        "value": f"{passed} of {len(judged)}",
        "detail": f"{unknown} more not measurable here" if unknown else "all judged",
    }


def _notes(facts) -> list[dict]:
    notes = []
    status = facts.results.cells["status"].value_counts()
    if status.get("failed"):
        notes.append(
            {
                "what": f"{_count(int(status['failed']), 'cell')} failed",
                "why": "See the page \u201cMissing\u201d; the check fails until they are there.",
                "todo": "./run reproduce",
            }
        )
    if facts.results.hybrid.empty:
        notes.append(
            {
                "what": "No real run on this machine",
                "why": "The page \u201cReal runs\u201d says why.",
                "todo": "./run --reserve reproduce",
            }
        )
    return notes


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
