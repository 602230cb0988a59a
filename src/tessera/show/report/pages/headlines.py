"""The findings of the summary: a question, the claims that decide it, the figure that shows it.

Sentences state the findings of the papers; values and verdicts of the claims state those of this run.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Headline:
    """One finding of the papers, the ids of its claims, and its figure (registry name)."""

    title: str
    sentence: str
    claims: tuple[str, ...]
    figure: str


HEADLINES = (
    Headline(
        "What does a new design gain?",
        "MICRO'20 and the studies before it ask a model of a processor for the runtime of a new design. The "
        "figure has the simulated designs that change R by more than 3%, and what the bracket answers from "
        "runs of the processor and from H and C of the design.",
        (
            "transfer-mosmodel-survives-coverage",
            "transfer-accuracy-on-p-sufficient",
            "transfer-invisible-gap",
        ),
        "new-designs",
    ),
    Headline(
        "How large is the error of a runtime model?",
        "The figure tests five published models, each fitted to one or two runs, on every layout. The paper "
        "reports errors below 3% for Mosmodel: a polynomial of degree 3 in H, M and C with at most 5 terms.",
        ("micro20-max-error-basu", "micro20-max-error-yaniv", "micro20-max-error-mosmodel"),
        "fig2",
    ),
    Headline(
        "Does a walk cycle add more than one cycle to the runtime?",
        "According to the papers, page tables displace data of the program from the caches. Then each walk "
        "cycle adds more than one cycle to the runtime, and the program loads more data from L3.",
        ("micro20-table7-slope", "micro20-slope-above-1-exists", "micro20-extra-l3-loads"),
        "fig9",
    ),
    Headline(
        "Does a straight line predict 1GB pages?",
        "No model is fitted to the 1GB layout. According to the papers, a line through the 4KB and 2MB runs "
        "does not predict it, and a cubic polynomial does.",
        ("opera-gups-linear-deviation", "opera-gups-cubic", "micro20-1gb-mosmodel"),
        "fig11",
    ),
)


def judged(facts, claims: list[dict]) -> list[dict]:
    """The headlines with their claims' rows and figures; without claims that this run did not evaluate."""
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
