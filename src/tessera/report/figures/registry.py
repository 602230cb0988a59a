"""All figures by name: those of the functions under :func:`tessera.report.figures.figure`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from tessera.core.errors import unknown_name
from tessera.report import figures as package
from tessera.report.figures import Entry


@cache
def figures() -> dict[str, Entry]:
    """Every figure by name, in the order of the files and of their lines. The first call imports matplotlib.

    Raises:
        RuntimeError: two figures have the same name.
    """
    found: dict[str, Entry] = {}
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


def get(name: str) -> Entry:
    """The figure of that name; the error lists the valid names."""
    if name not in figures():
        raise unknown_name("figure", name, list(figures()))
    return figures()[name]


def select(names: list[str] | None) -> list[Entry]:
    """The named figures in the order of :func:`figures`; all of them without names."""
    wanted = {get(name).name for name in names} if names else figures()
    return [entry for entry in figures().values() if entry.name in wanted]
