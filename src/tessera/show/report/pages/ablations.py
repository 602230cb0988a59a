"""The ablations: slope and curvature one mechanism switched off at a time; what the paper expects."""

from __future__ import annotations

from tessera.judge.studies import hypotheses, words
from tessera.judge.studies.tables import good, read
from tessera.judge.studies.variants import ABLATIONS


def page(facts) -> dict:
    shapes = good(facts.results.directory, "shapes")
    everything = read(facts.results.directory, "shapes")
    return {
        "title": "Ablations",
        "figure": facts.figure("ablations"),
        "sentences": words.ablations(shapes) if len(shapes) else [],
        "variants": [{"name": variant.name, "sentence": variant.sentence} for variant in ABLATIONS],
        "hypotheses": hypotheses.judged(shapes) if len(shapes) else [],
        "windows": _windows(good(facts.results.directory, "variants")),
        "rows": shapes.to_dict("records"),
        "failed": everything[everything["status"] == "failed"].to_dict("records"),
    }


def _windows(cells) -> list[str]:
    """What was simulated of each workload."""
    first = cells.dropna(subset=["accesses", "timed_instructions"]).drop_duplicates("workload")
    return [
        f"{row.workload}: {row.accesses / 1e6:.0f} M accesses, "
        f"{row.timed_instructions / 1e6:.1f} M instructions timed"
        for row in first.itertuples()
    ]
