"""What the registry knows about a figure."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

#: Sections of the report that a figure may belong to.
GROUPS = (
    "summary",
    "models",
    "workloads",
    "platforms",
    "layouts",
    "allocator",
    "kernel",
    "validation",
    "opera",
    "provenance",
)


@dataclass(frozen=True)
class Entry:
    """One figure: where its function is, what it says, and whether it exists per workload x platform."""

    name: str
    function: str  #: ``module:function`` under ``tessera.show.figures``
    title: str
    caption: str
    per_pair: bool = False
    argument: str | None = None  #: first argument of functions that draw several figures
    group: str = "models"  #: one of :data:`GROUPS`: the page of the report that shows it

    def __post_init__(self) -> None:
        if self.group not in GROUPS:
            raise ValueError(f"figure '{self.name}': group '{self.group}' is none of {', '.join(GROUPS)}")

    def load(self) -> Callable:
        """The function, imported on first use."""
        module, name = self.function.split(":")
        function = getattr(importlib.import_module(f"tessera.show.figures.{module}"), name)
        return partial(function, self.argument) if self.argument else function
