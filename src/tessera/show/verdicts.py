"""Verdicts, their meanings, and the provenance that each needs (docs/contracts.md, "Claims").

The rule is checked three times: on the claims table before a page is written, on the written page (from its
``data-*`` attributes) by ``tessera report check``, and by tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd


@dataclass(frozen=True)
class Verdict:
    """One verdict: its mark and colour class in pages, and one sentence."""

    name: str
    mark: str
    tone: str  #: css class: good, good-soft, bad, bad-soft, none
    meaning: str


VERDICTS: dict[str, Verdict] = {
    v.name: v
    for v in (
        Verdict(
            "REPRODUCED",
            "\u2713",
            "good",
            "Within the tolerance. Only for arithmetic on printed numbers, for invariants of this run's "
            "data, and for measurements on hardware of the claim's class.",
        ),
        Verdict(
            "DEVIATES",
            "\u2260",
            "bad",
            "Outside the tolerance. Only for arithmetic on printed numbers, for invariants of this run's "
            "data, and for measurements on hardware of the claim's class.",
        ),
        Verdict(
            "HOLDS-IN-SIMULATION",
            "\u25d0",
            "good-soft",
            "The mechanism appears on simulated platforms. This is no evidence about a real processor.",
        ),
        Verdict(
            "FAILS-IN-SIMULATION",
            "\u25d1",
            "bad-soft",
            "The mechanism does not appear on simulated platforms. The published measurement can still be "
            "right.",
        ),
        Verdict(
            "NOT-MEASURABLE-HERE",
            "\u25cb",
            "none",
            "An input is missing on this machine. The row names it and the command that measures it.",
        ),
    )
}
STRONG, SIMULATED = ("REPRODUCED", "DEVIATES"), ("HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION")


def objection(claim: dict) -> str:
    """Why the claim's verdict is not allowed; empty when it is."""
    verdict, provenance, finding = claim["verdict"], claim["provenance"], claim["kind"] == "finding"
    if verdict not in VERDICTS:
        return f"'{verdict}' is not a verdict"
    if verdict in STRONG and finding and provenance != "measured":
        return f"{verdict} of a finding needs a measurement, but the provenance is '{provenance or 'empty'}'"
    if verdict in STRONG and finding and not claim.get("hardware_class"):
        return f"{verdict} of a finding needs the hardware class of its measurement"
    if verdict in STRONG and claim["kind"] == "arithmetic" and provenance not in ("published", ""):
        return f"arithmetic uses printed numbers only, but the provenance is '{provenance}'"
    if verdict in SIMULATED and not (finding and provenance == "simulated"):
        return f"{verdict} needs a simulated finding, not: {claim['kind']}, '{provenance or 'empty'}'"
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
                }
            )


def shown(page: Path) -> pd.DataFrame:
    """The verdicts that a rendered page shows."""
    parser, text = _Rows(), page.read_text()
    if "data-claim=" in text:  # most pages show no claim, and parsing takes time
        parser.feed(text)
    columns = ["id", "verdict", "kind", "provenance", "hardware_class"]
    return pd.DataFrame(parser.claims, columns=columns)
