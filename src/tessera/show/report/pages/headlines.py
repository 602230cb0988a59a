"""The findings that the summary leads with: a question, the claims that decide it, the figure that shows it.

Sentences say what the papers found; the claims' values and verdicts say whether it came out here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Headline:
    """One finding: what the papers say, which claims judge it (by id), and its figure (registry name)."""

    title: str
    sentence: str
    claims: tuple[str, ...]
    figure: str


HEADLINES = (
    Headline(
        "How wrong can a runtime model be?",
        "Five published models, each fitted to one or two runs, are tested against every mosaic of page "
        "sizes. A polynomial of degree 3 in H, M and C with at most 5 terms is meant to stay below 3%.",
        ("micro20-max-error-basu", "micro20-max-error-yaniv", "micro20-max-error-mosmodel"),
        "fig2",
    ),
    Headline(
        "Can a page walk cost more than its own cycles?",
        "Page tables displace the program's data from the caches, the papers say: then runtime grows by more "
        "than one cycle for each walk cycle, and the walker's loads show up in L3.",
        ("micro20-table7-slope", "micro20-slope-above-1-exists", "micro20-extra-l3-loads"),
        "fig9",
    ),
    Headline(
        "Does a straight line predict 1GB pages?",
        "The 1GB layout is never fitted. A line through the 4KB and 2MB runs is said to miss it; a cubic is "
        "not.",
        ("opera-gups-linear-deviation", "opera-gups-cubic", "micro20-1gb-mosmodel"),
        "fig11",
    ),
)


def judged(facts, claims: list[dict]) -> list[dict]:
    """The headlines with their claims' rows and figures; a claim that this run didn't judge is left out."""
    by_id = {row["id"]: row for row in claims}
    return [
        {
            "title": one.title,
            "sentence": one.sentence,
            "claims": [by_id[name] for name in one.claims if name in by_id],
            "figure": facts.figure(one.figure),
        }
        for one in HEADLINES
    ]
