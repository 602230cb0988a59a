"""The pages: a function from :class:`tessera.report.facts.Facts` to what its template shows.

A new page is one file with ``page(facts)``, one template in ``report/templates``, one line in :data:`PAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tessera.report.pages import (
    ablations,
    assumptions,
    gaps,
    guide,
    host,
    index,
    models,
    platforms,
    provenance,
    sampling,
    validation,
    workloads,
)


@dataclass(frozen=True)
class Page:
    """File name, template, navigation label and the function that fills it."""

    href: str
    template: str
    label: str
    fill: Callable


PAGES = (
    Page("index.html", "index.html", "Summary", index.page),
    Page("models.html", "models.html", "Models", models.page),
    Page("workloads.html", "workloads.html", "Workloads", workloads.page),
    Page("platforms.html", "platforms.html", "Platforms", platforms.page),
    Page("sampling.html", "sampling.html", "Sampling", sampling.page),
    Page("ablations.html", "ablations.html", "Ablations", ablations.page),
    Page("assumptions.html", "assumptions.html", "Assumptions", assumptions.page),
    Page("validation.html", "validation.html", "Validation", validation.page),
    Page("host.html", "host.html", "Real runs", host.page),
    Page("gaps.html", "gaps.html", "Missing", gaps.page),
    Page("provenance.html", "provenance.html", "Provenance", provenance.page),
    Page("guide.html", "guide.html", "How to read", guide.page),
)
