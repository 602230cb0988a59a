"""Which layout to run next: where the fitted models disagree most (docs/models.md, "Adaptive").

Bottom up: `committee` (fitted models and their disagreement) < `order` (adaptive and random orders) <
`replay` (how many layouts an order needs, on layouts that were all run).
"""

from tessera.fit.adaptive.committee import COMMITTEE, disagreement, fit_committee
from tessera.fit.adaptive.order import next_layouts
from tessera.fit.adaptive.replay import replay, summary

__all__ = ["COMMITTEE", "disagreement", "fit_committee", "next_layouts", "replay", "summary"]
