"""Verdicts, their meanings, the score that each counts for, and the provenance that each needs.

docs/contracts.md, "Claims", has the words. Claims of one kind are one score, and scores are never added.

The rule is checked on the claims table when ``tessera report render`` has written it, on the table and the
written pages (from their ``data-*`` attributes) by ``tessera report check``, and by tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

from tessera.report.claims.verdicts import KINDS_OF_DOUBT, NOT_MEASURABLE, UNDECIDED, doubt


@dataclass(frozen=True)
class VerdictStyle:
    """One verdict: its mark and colour class in pages, and one sentence."""

    name: str
    mark: str
    tone: str  #: css class: good, bad; -soft: in simulation; -own: no evidence about processors; none
    meaning: str
    kinds: tuple[str, ...]  #: kinds of claims that can have it


@dataclass(frozen=True)
class Score:
    """Claims of one kind, counted by themselves: counts of two scores are never added."""

    kind: str
    name: str
    about: str
    pairs: tuple[tuple[str, str], ...]  #: verdicts of claims that hold and that do not, for each provenance
    words: tuple[tuple[str, str, str], ...]  #: of each pair: what its claims are, hold, and do not hold


STRONG, SIMULATED = ("REPRODUCED", "DEVIATES"), ("HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION")
SCORES: dict[str, Score] = {
    s.kind: s
    for s in (
        Score(
            "finding",
            "findings",
            "What the papers found, against what this run obtained.",
            (STRONG, SIMULATED),
            (("measured", "reproduced", "not"), ("simulated", "hold", "do not")),
        ),
        Score(
            "arithmetic",
            "proof-reading of papers",
            "Printed numbers against each other and against algebra. They say nothing about this run.",
            (("CONSISTENT", "CONTRADICTED"),),
            (("compared", "consistent", "contradicted"),),
        ),
        Score(
            "invariant",
            "self-checks of Tessera",
            "Rules that this run's own data obey. They say nothing about the papers.",
            (("PASS", "FAIL"),),
            (("checked", "hold", "do not"),),
        ),
    )
}
PROOF_READING = SCORES["arithmetic"]  #: a line of the summary, and a table of its own
_ONE = {kind: (kind,) for kind in SCORES}
VERDICTS: dict[str, VerdictStyle] = {
    v.name: v
    for v in (
        VerdictStyle(
            "REPRODUCED",
            "\u2713",
            "good",
            "A measurement on hardware of the claim's class is within the tolerance. Where page tables lie "
            "can be counted in a guest with our own kernel. Its cycles and times decide nothing.",
            _ONE["finding"],
        ),
        VerdictStyle(
            "DEVIATES",
            "\u2260",
            "bad",
            "A measurement on hardware of the claim's class is outside the tolerance.",
            _ONE["finding"],
        ),
        VerdictStyle(
            "HOLDS-IN-SIMULATION",
            "\u25d0",
            "good-soft",
            "The mechanism appears on simulated platforms. This is no evidence about a real processor.",
            _ONE["finding"],
        ),
        VerdictStyle(
            "FAILS-IN-SIMULATION",
            "\u25d1",
            "bad-soft",
            "The mechanism does not appear on simulated platforms. The published measurement can still be "
            "right.",
            _ONE["finding"],
        ),
        VerdictStyle(
            UNDECIDED,
            "?",
            "open",
            "The sentence has several readings. It holds by one of them and fails by another; the row shows "
            "both values. It counts neither as a finding that holds nor as one that does not.",
            _ONE["finding"],
        ),
        VerdictStyle(
            "CONSISTENT",
            "=",
            "good-own",
            "The printed numbers agree with each other, or with algebra. No run is needed.",
            _ONE["arithmetic"],
        ),
        VerdictStyle(
            "CONTRADICTED",
            "!",
            "bad-own",
            "Two printed numbers disagree, or a printed number disagrees with algebra.",
            _ONE["arithmetic"],
        ),
        VerdictStyle("PASS", "+", "good-own", "The data of this run obey the rule.", _ONE["invariant"]),
        VerdictStyle("FAIL", "\u00d7", "bad-own", "The data of this run break the rule.", _ONE["invariant"]),
        VerdictStyle(
            NOT_MEASURABLE,
            "\u25cb",
            "none",
            "An input is missing on this machine. The row names it and the command that measures it.",
            tuple(SCORES),
        ),
    )
}
#: Why a finding of a paper does not hold here; the first four are ours.
OURS = ("machine", "program", "window", "model")
CAUSES: dict[str, str] = {
    "machine": "Cause on our side: the simulated machine differs.",
    "program": "Cause on our side: another program, input, size or choice of programs.",
    "window": "Cause on our side: only a part of the run was simulated.",
    "model": "Cause on our side: a model, a mapping, an energy or our reading of the sentence.",
    "paper": "Cause in the paper: its own numbers say something else.",
    "open": "Cause not known.",
}
#: Words of claims_elsewhere.csv, which are no verdicts: no claim of claims.csv has one.
ELSEWHERE: dict[str, str] = {
    "HOLDS-ELSEWHERE": "It holds on a processor of another class than the paper's.",
    "FAILS-ELSEWHERE": "It does not hold on a processor of another class than the paper's.",
}
HELD = tuple(good for score in SCORES.values() for good, _ in score.pairs)
CYCLES_OR_TIME = ("cycles", "instructions", "s", "ms", "ns", "h")  #: units that a guest measures differently


def of_kind(kind: str) -> list[VerdictStyle]:
    """The verdicts that claims of a kind can have, in order."""
    return [one for one in VERDICTS.values() if kind in one.kinds]


def ordered_verdicts(found: Iterable[str]) -> list[str]:
    """Each verdict once, in the order of :data:`VERDICTS`; words of older tables that are none come last."""
    names = dict.fromkeys(found)
    return [name for name in VERDICTS if name in names] + [name for name in names if name not in VERDICTS]


def verdict_lines(claims: pd.DataFrame) -> str:
    """A line for each score, each with its own words and counts; no count is over two scores.

    ``findings: 3 REPRODUCED, 5 HOLDS-IN-SIMULATION``.
    """
    return "\n".join(score_line(score, claims) for score in SCORES.values())


def score_line(score: Score, claims: pd.DataFrame) -> str:
    """The line of one score."""
    mine = claims.loc[claims["kind"] == score.kind, "verdict"].tolist()
    kinds = {UNDECIDED: _kinds(claims)}
    words = [f"{mine.count(name)} {name}{kinds.get(name, '')}" for name in ordered_verdicts(mine)]
    return f"{score.name}: {', '.join(words) or 'none'}"


def causes_line(claims: pd.DataFrame) -> str:
    """Findings that do not hold, or are undecided, by cause: ``9 on our side (6 window, 3 model)``."""
    if "cause" not in claims:  # a table of an older run
        return ""
    found = claims.loc[claims["kind"] == "finding", "cause"].tolist()
    ours = [f"{found.count(name)} {name}" for name in OURS if name in found]
    parts = [f"{sum(found.count(name) for name in OURS)} on our side ({', '.join(ours)})"] if ours else []
    if "paper" in found:
        parts.append(f"{found.count('paper')} in the paper")
    if "open" in found:
        parts.append(f"{found.count('open')} not known")
    return f"Findings that do not hold or are undecided, by cause: {', '.join(parts)}." if parts else ""


def in_words(score: Score, verdicts: Iterable[str]) -> str:
    """``3 measured: 1 reproduced, 2 not. 9 simulated: 6 hold, 3 do not. 184 have no value here.``"""
    found = list(verdicts)
    parts = []
    for (good, bad), (what, yes, no) in zip(score.pairs, score.words, strict=True):
        held, failed = found.count(good), found.count(bad)
        if held + failed:
            against = f", {failed} {_of_one(no, failed)}" if failed else ""
            parts.append(f"{held + failed} {what}: {held} {_of_one(yes, held)}{against}.")
    if unsure := found.count(UNDECIDED):
        parts.append(f"{unsure} undecided: it holds by one reading only.")
    if open_ := found.count(NOT_MEASURABLE):
        parts.append(f"{open_} {_of_one('have', open_)} no value here.")
    return " ".join(parts) or "None."


def _of_one(verb: str, count: int) -> str:
    return {"hold": "holds", "do not": "does not", "have": "has"}.get(verb, verb) if count == 1 else verb


def _kinds(claims: pd.DataFrame) -> str:
    """The kinds of doubt of the undecided findings, in brackets; empty if no reason names one."""
    reasons = claims.loc[claims["verdict"] == UNDECIDED, "reason"].astype(str)
    kinds = sorted({kind for kind in map(doubt, reasons) if kind})
    return f" ({', '.join(kinds)})" if kinds else ""


def with_kind(claim: dict) -> str:
    """The verdict, of an undecided finding with the kind of doubt: ``UNDECIDED (reading)``."""
    kind = doubt(str(claim.get("reason", ""))) if claim["verdict"] == UNDECIDED else ""
    return f"{claim['verdict']} ({kind})" if kind else claim["verdict"]


def objection(claim: dict) -> str:
    """Why the claim's verdict is not allowed; empty when it is."""
    verdict, provenance, kind = claim["verdict"], claim["provenance"], claim["kind"]
    if verdict in ELSEWHERE:
        return f"{verdict} is a word of claims_elsewhere.csv; a claim can't have it"
    if verdict not in VERDICTS:
        return f"'{verdict}' is not a verdict"
    if kind not in VERDICTS[verdict].kinds:
        return f"{verdict} is a verdict of {', '.join(VERDICTS[verdict].kinds)}, but the claim is '{kind}'"
    if verdict in STRONG and provenance != "measured":
        return f"{verdict} of a finding needs a measurement, but the provenance is '{provenance or 'empty'}'"
    if verdict in STRONG and not claim.get("hardware_class"):
        return f"{verdict} of a finding needs the hardware class of its measurement"
    if (
        verdict in STRONG
        and "guest" in claim.get("implementation", "")
        and claim.get("unit") in CYCLES_OR_TIME
    ):
        return f"{verdict} of a finding needs a processor, but a guest measured its {claim['unit']}"
    if verdict == UNDECIDED and provenance not in ("measured", "simulated"):
        return f"{verdict} needs a value that was obtained, but the provenance is '{provenance or 'empty'}'"
    if verdict == UNDECIDED and not doubt(claim.get("reason", "reading:")):
        return f"{verdict} needs a reason that starts with its kind: {', '.join(KINDS_OF_DOUBT)}"
    if kind == "arithmetic" and verdict != NOT_MEASURABLE and provenance not in ("published", ""):
        return f"arithmetic uses printed numbers only, but the provenance is '{provenance}'"
    if verdict in SIMULATED and provenance != "simulated":
        return f"{verdict} needs a simulated finding, but the provenance is '{provenance or 'empty'}'"
    return ""


def objections(claims: pd.DataFrame) -> dict[str, str]:
    """Claim id -> why its verdict is not allowed; empty when all are."""
    found = {str(row["id"]): objection(row) for row in claims.to_dict("records")}
    return {name: why for name, why in found.items() if why}


class _Rows(HTMLParser):
    """Collects elements that carry a verdict."""

    def __init__(self) -> None:
        super().__init__()
        self.claims: list[dict] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {key.removeprefix("data-"): value or "" for key, value in attributes}
        if "verdict" in found and "claim" in found:
            self.claims.append(
                {
                    "id": found["claim"],
                    "verdict": found["verdict"],
                    "kind": found.get("kind", ""),
                    "provenance": found.get("provenance", ""),
                    "hardware_class": found.get("hardware", ""),
                    "implementation": found.get("implementation", ""),
                    "unit": found.get("unit", ""),
                }
            )


def shown_verdicts(page: Path) -> pd.DataFrame:
    """The verdicts that a rendered page shows."""
    parser, text = _Rows(), page.read_text()
    if "data-claim=" in text:  # most pages show no claim, and parsing takes time
        parser.feed(text)
    columns = ["id", "verdict", "kind", "provenance", "hardware_class", "implementation", "unit"]
    return pd.DataFrame(parser.claims, columns=columns)
