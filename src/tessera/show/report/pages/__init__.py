"""The pages: each has a function from :class:`tessera.show.report.facts.Facts` to variables of its template.

A new page is one file with ``page(facts)``, one template in ``report/templates``, one line in :data:`PAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tessera.show.report.pages import (
    ablations,
    allocator,
    assumptions,
    claims,
    clock,
    designs,
    energy,
    faults,
    gaps,
    guide,
    host,
    index,
    kernel,
    layouts,
    machines,
    models,
    placements,
    platforms,
    provenance,
    regime,
    sampling,
    scenarios,
    transfer,
    validation,
    workloads,
)

GROUPS = ("Report", "Results", "Trust", "Notebooks", "About")  #: of the navigation, in this order


def _always(_facts) -> bool:
    return True


@dataclass(frozen=True)
class Page:
    """File name, template, navigation label, the function that fills it, and its group of the navigation."""

    href: str
    template: str
    label: str
    fill: Callable
    group: str = "Results"
    exists: Callable = _always  #: of facts; a page that doesn't exist is neither written nor linked


PAGES = (
    Page("index.html", "index.html", "Summary", index.page, "Report"),
    Page("claims.html", "claims.html", "Claims", claims.page, "Report"),
    Page("models.html", "models.html", "Models", models.page),
    Page("workloads.html", "workloads.html", "Workloads", workloads.page),
    Page("regime.html", "regime.html", "Regime", regime.page),
    Page("layouts.html", "layouts.html", "Layouts", layouts.page),
    Page("platforms.html", "platforms.html", "Platforms", platforms.page),
    Page("designs.html", "designs.html", "Designs", designs.page),
    Page("energy.html", "energy.html", "Threads and energy", energy.page),
    Page("transfer.html", "transfer.html", "Which number", transfer.page),
    Page("allocator.html", "allocator.html", "Allocator", allocator.page),
    Page("host.html", "host.html", "Real runs", host.page),
    Page("machines.html", "machines.html", "Machines", machines.page),
    Page("placements.html", "placements.html", "Placements", placements.page),
    Page("scenarios.html", "scenarios.html", "What the kernel did", scenarios.page),
    Page("faults.html", "faults.html", "Page faults", faults.page),
    Page("kernel.html", "kernel.html", "Kernel", kernel.page, exists=kernel.exists),
    Page("validation.html", "validation.html", "Validation", validation.page, "Trust"),
    Page("clock.html", "clock.html", "Against this machine", clock.page, "Trust"),
    Page("sampling.html", "sampling.html", "Sampling", sampling.page, "Trust"),
    Page("ablations.html", "ablations.html", "Ablations", ablations.page, "Trust"),
    Page("assumptions.html", "assumptions.html", "Assumptions", assumptions.page, "Trust"),
    Page("gaps.html", "gaps.html", "Missing", gaps.page, "About"),
    Page("provenance.html", "provenance.html", "Provenance", provenance.page, "About"),
    Page("guide.html", "guide.html", "How to read", guide.page, "About"),
)
