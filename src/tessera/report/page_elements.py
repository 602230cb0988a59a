"""Which page shows which figure. A new figure of the registry appears without an edit of a page.

A figure's group (its registry entry's ``group``) names its page; without one it is the page of models.
Pages put some figures at a chosen place and show the rest of their group at the end.
"""

from __future__ import annotations

from tessera.report.figures import registry

#: group -> page
PAGE_OF_GROUP = {
    "summary": "index.html",
    "models": "models.html",
    "opera": "models.html",
    "workloads": "workloads.html",
    "platforms": "platforms.html",
    "layouts": "layouts.html",
    "allocator": "allocator.html",
    "kernel": "kernel.html",
    "validation": "validation.html",
}
#: pages that are written only if a part of the kernel's results is there
OPTIONAL_PAGES = ("kernel.html",)
#: figures that a page of their own, or another page than their group's, shows
OWN_PAGES = {
    "sensitivity": "workloads.html",
    "regime": "regime.html",
    "host": "host.html",
    "machines": "machines.html",
    "sampling": "sampling.html",
    "sampling-phases": "sampling.html",
    "ablations": "ablations.html",
    "sweep": "assumptions.html",
    "energy": "energy.html",
    "opera-fig11": "energy.html",
    "opera-fig12": "energy.html",
    "designs": "designs.html",
    "numa-placements": "placements.html",
    "numa-programs": "placements.html",
    "os-sizes": "scenarios.html",
    "os-faults": "scenarios.html",
    "os-chunks": "scenarios.html",
    "fault-shares": "faults.html",
    "fault-times": "faults.html",
    "fault-latency": "faults.html",
    "designs-nested": "designs.html",
    "transfer": "transfer.html",
    "transfer-ladder": "transfer.html",
    "validation-chase": "validation.html",
    "validation-clock": "clock.html",
    "validation-mosaics": "validation.html",
}


def page_of_figure(name: str) -> str:
    """The page that shows a figure; empty for figures of pairs and for unknown names."""
    for entry in registry.FIGURES:
        if entry.name == name:
            if entry.per_pair:
                return ""
            return OWN_PAGES.get(name) or PAGE_OF_GROUP.get(figure_group(entry), "models.html")
    return ""


def figure_group(entry) -> str:
    """The group of a registry entry; ``models`` if it has none."""
    return getattr(entry, "group", "") or "models"


def is_written(page: str, facts) -> bool:
    """Whether a run has the results for a page; most pages always exist."""
    tree = facts.results.tree
    return page not in OPTIONAL_PAGES or any(
        tree.found(tree.kernel("*", f"*.{kind}")) for kind in ("csv", "json")
    )


def figure_anchor(name: str, facts) -> str:
    """Link to a figure by registry name; empty if no page of this run shows it."""
    page = page_of_figure(name)
    return f"{page}#{name}" if page and is_written(page, facts) else ""


def figures_on(page: str, group: str | None = None) -> list[str]:
    """Names of the figures that a page shows, in the registry's order; only of one group if it is given."""
    return [
        entry.name
        for entry in registry.FIGURES
        if page_of_figure(entry.name) == page and (group is None or figure_group(entry) == group)
    ]


def other_figures(facts, page: str, but: tuple[str, ...] = ()) -> list:
    """The figures of a page that it doesn't show at a chosen place (``but``)."""
    return [facts.figure(name) for name in figures_on(page) if name not in but]
