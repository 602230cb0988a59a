"""Which page shows which figure: the ``page`` of its :func:`tessera.report.figures.figure`.

Pages put some figures at a chosen place and show their others at the end.
"""

from __future__ import annotations

from tessera.report.figures import registry

#: pages that are written only if a part of the kernel's results is there
OPTIONAL_PAGES = ("kernel.html",)


def is_written(page: str, facts) -> bool:
    """Whether a run has the results for a page; most pages always exist."""
    tree = facts.results.tree
    return page not in OPTIONAL_PAGES or any(
        tree.found(tree.kernel("*", f"*.{kind}")) for kind in ("csv", "json")
    )


def figure_anchor(name: str, facts) -> str:
    """Link to a figure by name; empty if no page of this run shows it once."""
    entry = registry.all_figures().get(name)
    return f"{entry.page}#{name}" if entry and entry.page and is_written(entry.page, facts) else ""


def figures_on(page: str) -> list[str]:
    """Names of the figures that a page shows, in the order of their files and lines."""
    return [entry.name for entry in registry.all_figures().values() if entry.page == page]


def other_figures(facts, page: str, but: tuple[str, ...] = ()) -> list:
    """The figures of a page that it doesn't show at a chosen place (``but``)."""
    return [facts.figure(name) for name in figures_on(page) if name not in but]
