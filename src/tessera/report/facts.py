"""The data of all pages, gathered once: tables, claims, figures, provenance, configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core.files import repo_root
from tessera.core.results.loader import platform_order
from tessera.core.results.report_tables import ELSEWHERE
from tessera.core.results.table_io import empty_table
from tessera.report import workload_table
from tessera.report.figures import workload_regimes
from tessera.report.figures.render import Drawn, stem_of
from tessera.report.results import Results

#: This machine, measured and as a simulated platform: it has cells of one workload and few layouts.
MACHINE = ("host", "host-sim", "host-calibrated")


@dataclass
class ReportData:
    """The data of one results tree for the pages."""

    results: Results
    claims: pd.DataFrame
    claims_reason: str  #: why there are no claims; empty if there are
    figures: list[Drawn]
    provenance: dict[str, dict]
    notebooks: list[str] = field(default_factory=list)
    reference: Path = field(default_factory=lambda: repo_root() / "reference-results")  #: printed numbers
    #: ``claims_elsewhere.csv``
    elsewhere: pd.DataFrame = field(default_factory=lambda: empty_table(ELSEWHERE))
    #: id of a finding -> what each group of machines gave, as
    #: :class:`tessera.report.machines.verdicts.JudgedGroup`
    measured: Mapping[str, list] = field(default_factory=dict)
    pdf_written: bool = False
    pdf_problem: str = ""  #: why report.pdf is missing although it was requested

    @property
    def name(self) -> str:
        return self.results.directory.resolve().name

    @property
    def config(self) -> dict:
        return self.provenance.get("config") or {}

    @property
    def tiny(self) -> bool:
        """Whether this run has tiny inputs only, so that it is no evidence about the papers."""
        return tiny_inputs(self.config)

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
            reason="this command did not request it",
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

    @cached_property
    def regime(self) -> pd.DataFrame:
        """What each pair asks of translation, and printed numbers (:mod:`.figures.workload_regimes`)."""
        return workload_regimes.regime_rows(self.results, self.reference)

    @cached_property
    def workload_table(self) -> pd.DataFrame:
        """The table of all workloads (:mod:`.workload_table`) on the simulated platforms."""
        on = [name for name in self.platforms() if name not in MACHINE]
        return workload_table.workloads_table(self.results, self.workloads(), on)

    def platforms(self) -> list[str]:
        """Platforms of the configuration in its order, then others that have cells."""
        asked = self.config.get("platforms") or []
        return list(dict.fromkeys([*asked, *platform_order(self.results.cells["platform"])]))


def tiny_inputs(config: Mapping) -> bool:
    """Whether every workload of a configuration has the size ``tiny``."""
    workloads = config.get("workloads")
    if not isinstance(workloads, Mapping) or not workloads:
        return False
    return all(isinstance(one, Mapping) and one.get("size") == "tiny" for one in workloads.values())


def shown_path(path: Path) -> str:
    """A path as pages and messages show it: relative to the checkout, else its last two parts."""
    path = Path(path).resolve()
    try:
        return str(path.relative_to(repo_root()))
    except ValueError:
        return "/".join(path.parts[-2:]).lstrip("/")
