"""All claims: published, obtained, tolerance, verdict, provenance, explanation; filters; shared reasons."""

from __future__ import annotations

from tessera.report.claims.claim import TO_MEASURE
from tessera.report.claims.verdicts import UNDECIDED, doubt
from tessera.report.claims_table import claim_for_reading
from tessera.report.page_elements import figure_anchor
from tessera.report.verdicts import (
    CAUSES,
    NOT_MEASURABLE,
    PROOF_READING,
    SCORES,
    VERDICTS,
    causes_line,
    objection,
    score_line,
)

KINDS = tuple(SCORES)  #: in the order of the page: what is most asked for first
#: rule of a tolerance -> words without and with slack
WORDS_OF_RULES = {
    "exact": ("exactly", "exactly"),
    "absolute": ("exactly", "within {number}"),
    "relative": ("exactly", "within {percent}"),
    "at-most": ("at most", "at most {number} more"),
    "at-least": ("at least", "at most {number} less"),
    "ordering": ("same order", "same order, ties within {percent}"),
}
PAPERS = {
    "micro20": "MICRO 2020",
    "opera-d5.10": "OPERA D5.10",
    "mitosis-asplos20": "Mitosis (ASPLOS 2020)",
    "park-kaist19": "Park (KAIST 2019)",
    "virtuoso-asplos25": "Virtuoso (ASPLOS 2025)",
    "tessera": "Tessera's own rules",
}


def claims_page(facts) -> dict:
    rows, notes = shared(claim_rows(facts))
    claims = sorted(without_proof_reading(rows), key=lambda row: row["verdict"] == NOT_MEASURABLE)
    return {
        "title": "Claims",
        "claims": claims,
        "proof_reading": [row for row in rows if row["kind"] == PROOF_READING.kind],
        "proof_reading_about": PROOF_READING.about,
        "proof_reading_line": score_line(PROOF_READING, facts.claims),
        "reasons": notes,
        "claims_reason": facts.claims_reason,
        "bars": verdict_bars(claims),
        "causes_line": causes_line(facts.claims),
        "unmeasured": VERDICTS[NOT_MEASURABLE],
        "choices": [
            choice(
                "paper", "paper", [(row["paper"], PAPERS.get(row["paper"], row["paper"])) for row in claims]
            ),
            choice("part", "section", [(row["part"], row["part"]) for row in claims]),
            choice("kind", "score", [(row["kind"], SCORES[row["kind"]].name) for row in claims]),
            choice(
                "provenance", "provenance", [(row["provenance"],) * 2 for row in claims if row["provenance"]]
            ),
        ],
        "check_command": f"./run tessera report check --results {facts.where}",
    }


def claim_rows(facts) -> list[dict]:
    """The claims as pages show them, findings first."""
    table = facts.claims.sort_values("kind", key=_kind_order, kind="stable")
    return [
        {
            **claim_for_reading(row),
            "objection": objection(row),
            "link": figure_anchor(row["figure"], facts),
            "part": part(row),
            "allowed": allowed(row["tolerance"]),
            "cause_words": CAUSES.get(row.get("cause", ""), ""),
            "doubt": doubt(row["reason"]) if row["verdict"] == UNDECIDED else "",
        }
        for row in table.to_dict("records")
    ]


def without_proof_reading(rows: list[dict]) -> list[dict]:
    """Claims about this run: findings and self-checks."""
    return [row for row in rows if row["kind"] != PROOF_READING.kind]


def shared(claims: list[dict]) -> tuple[list[dict], list[dict]]:
    """The claims, each with the ``note`` (a number) that holds its reason, or 0; and the notes.

    A reason of several claims is shown once, as a note with ``number, count, why, command``: ordered by
    count. The claims keep their full ``reason``.
    """
    counts: dict[str, int] = {}
    for row in claims:
        counts[row["reason"]] = counts.get(row["reason"], 0) + 1
    repeated = sorted((r for r, n in counts.items() if n > 1 and TO_MEASURE in r), key=lambda r: -counts[r])
    number = {reason: n for n, reason in enumerate(repeated, start=1)}
    notes = []
    for reason, n in number.items():
        why, _, command = reason.partition(TO_MEASURE)
        notes.append({"number": n, "count": counts[reason], "why": why, "command": command})
    return [row | {"note": number.get(row["reason"], 0)} for row in claims], notes


def allowed(tolerance: str) -> str:
    """A tolerance in words: ``relative 0.5`` is ``within 50%`` of the published value."""
    rule, _, number = tolerance.partition(" ")
    if rule not in WORDS_OF_RULES:
        return tolerance
    bare, slack = WORDS_OF_RULES[rule]
    return slack.format(number=number, percent=f"{100 * float(number):g}%") if number else bare


def part(row: dict) -> str:
    """Where in a paper a claim is, without its figure or table: ``micro20 VI-B``."""
    section = row["section"].split(",")[0].strip()
    return section if section.startswith(row["paper"]) else f"{row['paper']} {section}".strip()


def choice(key: str, label: str, values: list[tuple[str, str]]) -> dict:
    """A list to choose from: each value once, by its words. No counts, because rows are of all scores."""
    options = [{"value": value, "label": words} for value, words in dict.fromkeys(values)]
    return {"key": key, "label": label, "options": sorted(options, key=lambda one: one["label"])}


def verdict_bars(claims: list[dict]) -> list[dict]:
    """Per score the verdicts and how many claims have each. No number is over two scores."""
    found = []
    for kind, score in SCORES.items():
        mine = [row["verdict"] for row in claims if row["kind"] == kind]
        parts = [
            {"verdict": one, "count": mine.count(name)} for name, one in VERDICTS.items() if name in mine
        ]
        if mine:
            found.append(
                {"kind": kind, "words": score.name, "about": score.about, "total": len(mine), "parts": parts}
            )
    return found


def _kind_order(kinds):
    return kinds.map(lambda kind: KINDS.index(kind) if kind in KINDS else len(KINDS))
