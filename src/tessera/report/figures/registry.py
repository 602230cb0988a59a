"""All figures by name: those of the functions under :func:`tessera.report.figures.figure`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from tessera.core.errors import unknown_name
from tessera.report import figures as package
from tessera.report.figures import ReportFigure


@cache
def all_figures() -> dict[str, ReportFigure]:
    """Every figure by name, in the order of the files and of their lines. The first call imports matplotlib.

    Raises:
        RuntimeError: two figures have the same name.
    """
    found: dict[str, ReportFigure] = {}
    for file in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"tessera.report.figures.{file.name}")
        for function in vars(module).values():
            if getattr(function, "__module__", "") != module.__name__:
                continue  # imported from another file
            for entry in getattr(function, "figures", ()):
                if entry.name in found:
                    raise RuntimeError(f"figure '{entry.name}' is registered twice")
                found[entry.name] = entry
    return found


def get(name: str) -> ReportFigure:
    """The figure of that name; the error lists the valid names."""
    if name not in all_figures():
        raise unknown_name("figure", name, list(all_figures()))
    return all_figures()[name]


def select_figures(names: list[str] | None) -> list[ReportFigure]:
    """The named figures in the order of :func:`all_figures`; all of them without names."""
    wanted = {get(name).name for name in names} if names else all_figures()
    return [entry for entry in all_figures().values() if entry.name in wanted]
