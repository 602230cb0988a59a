"""Everything a page may show, gathered once: tables, claims, figures, provenance, configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tessera.figures.render import Drawn, stem_of
from tessera.figures.tables import Results, platform_order
from tessera.paths import repo_root


@dataclass
class Facts:
    """One results tree, ready to be written as pages."""

    results: Results
    claims: pd.DataFrame
    claims_reason: str  #: why there are no claims; empty if there are
    figures: list[Drawn]
    provenance: dict[str, dict]
    notebooks: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.results.directory.resolve().name

    @property
    def config(self) -> dict:
        return self.provenance.get("config") or {}

    def figure(self, name: str, workload: str = "", platform: str = "") -> Drawn:
        """A figure by name, drawn or not."""
        stem = stem_of(name, workload, platform)
        for one in self.figures:
            if one.stem == stem:
                return one
        return Drawn(
            name,
            stem,
            name,
            "",
            workload,
            platform,
            reason="it was not asked for",
            remedy=f"./run tessera report figures --results {self.where} --only {name}",
        )

    @property
    def where(self) -> str:
        """The results folder as commands name it: inside the checkout, never an absolute path."""
        return shown_path(self.results.directory)

    def workloads(self) -> list[str]:
        """Workloads of the configuration, then others that have cells; each once."""
        asked = self.config.get("workloads") or []
        return list(dict.fromkeys([*asked, *sorted(self.results.cells["workload"].unique())]))

    def platforms(self) -> list[str]:
        """Platforms of the configuration in its order, then others that have cells."""
        asked = self.config.get("platforms") or []
        return list(dict.fromkeys([*asked, *platform_order(self.results.cells["platform"])]))


def shown_path(path: Path) -> str:
    """A path as pages and messages show it: relative to the checkout, else its last two parts."""
    path = Path(path).resolve()
    try:
        return str(path.relative_to(repo_root()))
    except ValueError:
        return "/".join(path.parts[-2:]).lstrip("/")
