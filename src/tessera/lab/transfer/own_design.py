"""A design of the user: its H, M and C, and R of the timing engine, on the window of the study.

The file is YAML::

    name: my anchors                  # optional
    changes: {mmu.design: anchor, design.anchor.distance_pages: 16}
    mapping: medium                   # a kind of mapping; or layout: growing-0 (the default: 4KB pages)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core.configuration_files import Document
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import ALL_4KB, canonical_name
from tessera.core.platforms import Platform
from tessera.core.results.outcomes import is_ok, read_recording
from tessera.core.results.tree import ResultsTree
from tessera.fit.predict.bracket import ChangedCounts
from tessera.lab.studies import placements
from tessera.lab.transfer.classes import DESIGN, IDEAL, THP, changed, groups_of
from tessera.lab.transfer.points import asked
from tessera.lab.transfer.runs import TIMING, Cell, Runs, Units, units_of_length
from tessera.record import traces
from tessera.simulate.inputs import LAYOUT, MAPPING
from tessera.simulate.runner import CellCache, content_key, trace_identity
from tessera.simulate.sampling import Intervals

DESIGN_FILE = Document(
    "design", "design", "write, for example: changes: {tlb.stlb.entries: 2048}", code="design"
)
Progress = Callable[[str], None]


@dataclass(frozen=True)
class OwnDesign:
    """``changes`` of the platform, under a kind of mapping or a layout of the study."""

    name: str
    changes: dict[str, int | str] = field(default_factory=dict)
    mapping: str = ""
    layout: str = ALL_4KB

    @property
    def pages(self) -> str:
        """Layout or mapping."""
        return self.mapping or self.layout


def read_own(path: Path) -> OwnDesign:
    """The design in a YAML file.

    Raises:
        TesseraError: no YAML, an unknown key, changes that are no mapping, or a mapping and a layout.
    """
    return _design(DESIGN_FILE.read(path), str(path), path.stem)


def of_tree(tree: object, where: str, name: str) -> OwnDesign:
    """The design in a tree; ``name`` if the tree has none. Errors as above."""
    return _design(DESIGN_FILE.check(tree, where), where, name)


def _design(tree: dict, where: str, name: str) -> OwnDesign:
    if "mapping" in tree and "layout" in tree:
        raise TesseraError(
            f"design {where}", "it has a mapping and a layout", "keep one of them", code="design-pages"
        )
    layout = str(tree.get("layout", ALL_4KB))
    if not layout.endswith(".csv"):
        layout = canonical_name(layout)
    return OwnDesign(
        str(tree.get("name", name)), tree.get("changes") or {}, str(tree.get("mapping", "")), layout
    )


@dataclass(frozen=True)
class TraceWindow:
    """The window of the study of a pair, with its units."""

    workload: str
    trace: Path
    warm_units: int
    interval_instructions: int
    seed: int
    manifest: Path

    @classmethod
    def of(cls, tree: ResultsTree, samples: pd.DataFrame, workload: str, platform: str) -> TraceWindow:
        """From a results tree that still has the window, or the trace that it was cut from.

        Raises:
            TesseraError: neither is there.
        """
        first = samples.iloc[0]
        infos = [*tree.found(tree.window(workload, "*")), tree.info(workload)]
        for info in infos:
            if info.is_file() and is_ok(read_recording(info)[0]):
                trace = read_recording(info)[1]
                if trace.is_file() and traces.trace_info(trace)["accesses"] == first["window_accesses"]:
                    return cls(
                        workload, trace, int(first["warm_units"]), int(first["interval_instructions"]),
                        int(first["seed"]), tree.manifest(workload, platform),
                    )  # fmt: skip
        raise TesseraError(
            f"window of {workload} with {first['window_accesses']} accesses",
            f"{tree.studies} has none, so the design cannot be simulated",
            "run ./run reproduce; or give counts: --counts FILE.csv (docs/explain/predict.md)",
            exit_code=EXIT_FAILED,
            code="no-window",
        )


@dataclass(frozen=True)
class SimulatedDesign:
    """A simulated design: as the bracket asks for it, and R of the timing engine in cycles."""

    asked: ChangedCounts
    runtime: float


def classes(design: OwnDesign, platform: Platform) -> tuple[list[str], list[str]]:
    """(classes, keys that belong to no class) of a design."""
    groups, unknown = groups_of(platform, design.changes)
    return [group for group in groups if group != IDEAL], unknown + ([IDEAL] if IDEAL in groups else [])


def simulate_own(
    design: OwnDesign, window: TraceWindow, base: Platform, cache: Path | None = None,
    progress: Progress = lambda line: None,
) -> SimulatedDesign:  # fmt: skip
    """H, M, C and R of a variant of ``base`` on the window of the study, in one run of the timing engine.

    Raises:
        TesseraError: the simulator rejects the design, or the layout or mapping does not exist.
    """
    platform = changed(base, design.changes, f"assumed: design '{design.name}'")
    kept = CellCache(cache)
    runs = Runs(window.workload, window.trace, _units(window, kept), kept, 1, progress)
    with tempfile.TemporaryDirectory(prefix="tessera-design-") as folder:
        file, kind = _pages(design, window, Path(folder), progress)
        if kind is MAPPING and DESIGN not in design.changes:
            platform = changed(platform, {DESIGN: THP})
        cell = _cell(runs.cells(platform, [file], kind, TIMING), design)
    return SimulatedDesign(asked(cell.row, cell.structures, platform, base), cell.runtime)


def _units(window: TraceWindow, cache: CellCache) -> Units:
    """The units of the window; from the cache if they are known, because the simulator reads them."""
    length, warm = window.interval_instructions, window.warm_units
    key = content_key("units of a window", trace_identity(window.trace), str(length), str(warm))
    known = cache.get(key)
    if known is not None:
        return Units(**known | {"plan": Intervals(known["plan"]["text"])})
    units = units_of_length(window.trace, length, warm)
    cache.put(key, asdict(units))
    return units


def _pages(design: OwnDesign, window: TraceWindow, folder: Path, progress: Progress):
    """(file, kind) of the layout or mapping."""
    if design.mapping:
        made = placements.make_mappings(window.trace, [design.mapping], window.seed, folder, progress)
        if design.mapping not in made.files:
            raise TesseraError(f"mapping {design.mapping}", made.rows[0]["message"], "use another mapping")
        return made.files[design.mapping], MAPPING
    file = Path(design.layout)
    file = file if file.suffix == ".csv" else window.manifest.with_name(f"{design.layout}.csv")
    if not file.is_file():
        raise TesseraError(
            f"layout {design.layout} of design '{design.name}'", f"{file} does not exist",
            "name a layout of the run, or a layout file", code="layout-unknown",
        )  # fmt: skip
    return file, LAYOUT


def _cell(cells: dict[str, Cell], design: OwnDesign) -> Cell:
    (cell,) = cells.values()
    if not is_ok(cell.status):
        raise TesseraError(f"design '{design.name}' under {design.pages}", cell.message, "change the design")
    return cell
