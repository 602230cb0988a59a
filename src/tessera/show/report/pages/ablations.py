"""The ablations: slope and curvature with one mechanism switched off; explanations of the paper."""

from __future__ import annotations

from tessera.judge.studies import hypotheses, sentences
from tessera.judge.studies.variants import ABLATIONS
from tessera.results.schema.studies import SHAPES, VARIANTS
from tessera.results.status import ok_rows, other_rows


def page(facts) -> dict:
    everything = facts.results.read(SHAPES)
    shapes = ok_rows(everything)
    return {
        "title": "Ablations",
        "figure": facts.figure("ablations"),
        "sentences": sentences.ablations(shapes) if len(shapes) else [],
        "mispredictions": _mispredictions(shapes),
        "variants": [{"name": variant.name, "sentence": variant.sentence} for variant in ABLATIONS],
        "hypotheses": hypotheses.judged(shapes) if len(shapes) else [],
        "windows": _windows(ok_rows(facts.results.read(VARIANTS))),
        "rows": shapes.to_dict("records"),
        "failed": other_rows(everything).to_dict("records"),
    }


def _mispredictions(shapes) -> dict:
    found = sentences.slopes(shapes) if len(shapes) else shapes
    if not len(found):
        return {}
    return {"sentence": sentences.mispredictions(found), "rows": found.to_dict("records")}


def _windows(cells) -> list[str]:
    """The simulated window of each workload."""
    first = cells.dropna(subset=["accesses", "timed_instructions"]).drop_duplicates("workload")
    return [
        f"{row.workload}: {row.accesses / 1e6:.0f} M accesses, "
        f"{row.timed_instructions / 1e6:.1f} M instructions timed"
        for row in first.itertuples()
    ]
