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

#: groups of the menu, in this order, and what is in them
START, MODELS, MACHINES, TRUST, NOTEBOOKS = GROUPS = {
    "Summary and claims": "What ran, what the papers claim, what this run obtained, how to read it.",
    "Models, workloads, designs": "Errors of the models, what workloads ask of translation, new designs.",
    "Operating system, real runs": "Pages that Linux gives, page faults, page tables, measured machines.",
    "Why trust the numbers": "Checks of the simulator, errors of sampling, assumed values, provenance.",
    "Notebooks": "The same results as code that you can change.",
}


def _always(_facts) -> bool:
    return True


@dataclass(frozen=True)
class Page:
    """File name, template, navigation label, the function that fills it, and its group of the navigation."""

    href: str
    template: str
    label: str
    fill: Callable
    group: str
    exists: Callable = _always  #: of facts; a page that doesn't exist is neither written nor linked


PAGES = (
    Page("index.html", "index.html", "Summary", summary.summary_page, START),
    Page("claims.html", "claims.html", "Claims of the papers", claims.claims_page, START),
    Page("coverage.html", "coverage.html", "Coverage of the papers", coverage.coverage_page, START),
    Page("gaps.html", "gaps.html", "Missing", about.gaps_page, START),
    Page("guide.html", "guide.html", "How to read", about.guide_page, START),
    Page("models.html", "models.html", "Errors of the models", models.models_page, MODELS),
    Page("transfer.html", "transfer.html", "Models and new designs", designs.transfer_page, MODELS),
    Page("designs.html", "designs.html", "Designs and mappings", designs.designs_page, MODELS),
    Page("workloads.html", "workloads.html", "Workloads", workloads.workloads_page, MODELS),
    Page("regime.html", "regime.html", "Demand for translation", studies.regime_page, MODELS),
    Page("layouts.html", "layouts.html", "Layouts", workloads.layouts_page, MODELS),
    Page("platforms.html", "platforms.html", "Simulated platforms", designs.platforms_page, MODELS),
    Page("energy.html", "energy.html", "Threads and energy", designs.energy_page, MODELS),
    Page("scenarios.html", "scenarios.html", "Linux policies", operating_system.scenarios_page, MACHINES),
    Page("faults.html", "faults.html", "Page faults", operating_system.faults_page, MACHINES),
    Page("placements.html", "placements.html", "Remote page tables", page_tables.placements_page, MACHINES),
    Page(
        "kernel.html", "kernel.html", "Replicated page tables", page_tables.kernel_page, MACHINES,
        exists=page_tables.kernel_page_exists,
    ),
    Page("allocator.html", "allocator.html", "Allocator", machines.allocator_page, MACHINES),
    Page("host.html", "host.html", "Runs on this machine", machines.host_page, MACHINES),
    Page("machines.html", "machines.html", "Measured machines", machines.machines_page, MACHINES),
    Page("validation.html", "validation.html", "Checks of the simulator", validation.validation_page, TRUST),
    Page("clock.html", "clock.html", "Cycles beside this machine's", validation.clock_page, TRUST),
    Page("sampling.html", "sampling.html", "Errors of sampling", studies.sampling_page, TRUST),
    Page("ablations.html", "ablations.html", "Causes of slope and curvature", studies.ablations_page, TRUST),
    Page("assumptions.html", "assumptions.html", "Assumed values", studies.assumptions_page, TRUST),
    Page("provenance.html", "provenance.html", "Provenance", about.provenance_page, TRUST),
)  # fmt: skip
