"""The pages: each has a function from :class:`tessera.report.facts.ReportData` to variables of its template.

A new page is a function ``<name>_page(facts)`` in one of these files, one template in ``report/templates``,
and one line in :data:`PAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tessera.report.pages import (
    about,
    claims,
    coverage,
    designs,
    machines,
    models,
    operating_system,
    page_tables,
    studies,
    summary,
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
    Page("index.html", "index.html", "Summary", summary.summary_page, "Report"),
    Page("claims.html", "claims.html", "Claims", claims.claims_page, "Report"),
    Page("coverage.html", "coverage.html", "Coverage", coverage.coverage_page, "Report"),
    Page("models.html", "models.html", "Models", models.models_page),
    Page("workloads.html", "workloads.html", "Workloads", workloads.workloads_page),
    Page("regime.html", "regime.html", "Regime", studies.regime_page),
    Page("layouts.html", "layouts.html", "Layouts", workloads.layouts_page),
    Page("platforms.html", "platforms.html", "Platforms", designs.platforms_page),
    Page("designs.html", "designs.html", "Designs", designs.designs_page),
    Page("energy.html", "energy.html", "Threads and energy", designs.energy_page),
    Page("transfer.html", "transfer.html", "Which number", designs.transfer_page),
    Page("allocator.html", "allocator.html", "Allocator", machines.allocator_page),
    Page("host.html", "host.html", "Real runs", machines.host_page),
    Page("machines.html", "machines.html", "Machines", machines.machines_page),
    Page("placements.html", "placements.html", "Placements", page_tables.placements_page),
    Page("scenarios.html", "scenarios.html", "What the kernel did", operating_system.scenarios_page),
    Page("faults.html", "faults.html", "Page faults", operating_system.faults_page),
    Page(
        "kernel.html", "kernel.html", "Kernel", page_tables.kernel_page, exists=page_tables.kernel_page_exists
    ),
    Page("validation.html", "validation.html", "Validation", validation.validation_page, "Trust"),
    Page("clock.html", "clock.html", "Against this machine", validation.clock_page, "Trust"),
    Page("sampling.html", "sampling.html", "Sampling", studies.sampling_page, "Trust"),
    Page("ablations.html", "ablations.html", "Ablations", studies.ablations_page, "Trust"),
    Page("assumptions.html", "assumptions.html", "Assumptions", studies.assumptions_page, "Trust"),
    Page("gaps.html", "gaps.html", "Missing", about.gaps_page, "About"),
    Page("provenance.html", "provenance.html", "Provenance", about.provenance_page, "About"),
    Page("guide.html", "guide.html", "How to read", about.guide_page, "About"),
)
