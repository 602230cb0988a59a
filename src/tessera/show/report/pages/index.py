"""Summary: the cells, answers for new designs, verdicts, findings, measured and simulated numbers."""

from __future__ import annotations

from tessera.results.pair import pairs_of
from tessera.results.schema.transfer import NEW_DESIGNS
from tessera.show import new_designs
from tessera.show.report.facts import MACHINE
from tessera.show.report.pages import claims as claims_page
from tessera.show.report.pages.headlines import HEADLINES, judged
from tessera.show.report.pages.origins import origins
from tessera.show.report.placing import others
from tessera.show.verdicts import HELD, SCORES, Score, in_order


def page(facts) -> dict:
    claims = claims_page.rows(facts)
    return {
        "title": "Summary",
        "summary": summary(facts),
        "tiles": _tiles(facts, claims),
        "new_designs": _new_designs(facts),
        "notes": _notes(facts),
        "claims": claims,
        "claims_reason": facts.claims_reason,
        "bars": claims_page.bars(claims),
        "required": _required(claims),
        "headlines": judged(facts, claims),
        "origins": origins(facts),
        "check_command": f"./run tessera report check --results {facts.where}",
        "more": others(facts, "index.html", tuple(one.figure for one in HEADLINES)),
    }


def summary(facts) -> str:
    """Workloads, platforms and layouts of the run, in one or two sentences."""
    cells = facts.results.simulated
    cells = cells[~cells["platform"].isin(MACHINE)]
    if cells.empty:
        return "No cell has a number yet. The pages list the missing results and the commands that make them."
    workloads, platforms, layouts = (cells[name].nunique() for name in ("workload", "platform", "layout"))
    text = (
        f"{_count(workloads, 'workload')} on {_count(platforms, 'simulated platform')} under up to "
        f"{layouts} layouts. Every runtime model is fitted to each pair of workload and platform. The report "
        "compares the results with the numbers in the papers."
    )
    hybrid = len(facts.results.hybrid)
    return text + (
        f" {_count(hybrid, 'layout')} also ran on the processor of this machine." if hybrid else ""
    )


def _new_designs(facts) -> dict:
    """Tables of both scopes with judged points, and a sentence for each class."""
    table = facts.results.read(NEW_DESIGNS, expected=False)
    words = {
        new_designs.NEW: "on which nothing was tuned",
        new_designs.ALL: "with those that the bracket was tuned on",
    }
    found = []
    for platform, scope, rows in new_designs.tables(table):
        about = f"{_count(int(rows['workloads'].max()), 'workload')} {words[scope]}"
        found.append({"platform": platform, "about": about, "rows": rows.to_dict("records")})
    return {"tables": found, "sentences": new_designs.sentences(table), "last": new_designs.LAST}


def _required(claims: list[dict]) -> list[dict]:
    """Required claims of each score that has any: how many, how many hold."""
    found = []
    for score in SCORES.values():
        mine = [row["verdict"] for row in claims if row["required"] and row["kind"] == score.kind]
        if mine:
            found.append({"name": score.name, "total": len(mine), "held": sum(v in HELD for v in mine)})
    return found


def _tiles(facts, claims: list[dict]) -> list[dict]:
    status = facts.results.cells["status"].value_counts()
    pairs = facts.results.pairs()
    fitted = pairs_of(facts.results.models("errors", analysed=False))
    dropped = len(facts.results.dropped)
    missing = [f"{status[name]} {name}" for name in ("failed", "skipped") if status.get(name)]
    return [
        *(
            _tile(score, [row["verdict"] for row in claims if row["kind"] == kind])
            for kind, score in SCORES.items()
        ),
        {
            "label": "good cells",
            "value": int(status.get("ok", 0)),
            "detail": ", ".join(missing) or "none missing",
        },
        {
            "label": "pairs of workload and platform",
            "value": len(pairs),
            "detail": f"models for {len(fitted)}"
            + (f", {dropped} of them not TLB-sensitive" if dropped else ""),
        },
    ]


def _tile(score: Score, verdicts: list[str]) -> dict:
    """One score: how many of its decided claims hold, and their words; measured and simulated ones apart."""
    parts = [(verdicts.count(good), verdicts.count(bad)) for good, bad in score.pairs]
    return {
        "label": score.name,
        "value": ", ".join(f"{good} of {good + bad}" for good, bad in parts if good + bad) or "0 of 0",
        "detail": ", ".join(f"{verdicts.count(name)} {name}" for name in in_order(verdicts)) or "none",
    }


def _notes(facts) -> list[dict]:
    notes = []
    status = facts.results.cells["status"].value_counts()
    if status.get("failed"):
        notes.append(
            {
                "what": f"{_count(int(status['failed']), 'cell')} failed",
                "why": "The page \u201cMissing\u201d has the reasons. Failed cells make the check fail.",
                "todo": "./run reproduce",
            }
        )
    if facts.results.hybrid.empty:
        notes.append(
            {
                "what": "No real run on this machine",
                "why": "The page \u201cReal runs\u201d has the reason.",
                "todo": "./run --reserve reproduce",
            }
        )
    return notes


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
