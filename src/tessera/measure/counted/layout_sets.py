"""The layouts of a measurement: ``full`` (MICRO'20 VI-B, 54 + 1gb) or ``core`` (growing and 1gb).

Sliding windows follow the TLB misses under 4KB pages. If this processor can sample them, they are measured;
else they come from the simulated profile of a results folder. A bundle records which.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts import generation
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import Layout
from tessera.core.results.cell_tables import PROFILE
from tessera.core.results.outcomes import read_recording
from tessera.core.results.table_io import read_file
from tessera.core.results.tree import ResultsTree
from tessera.core.units import PAGE_2MB, format_bytes, round_up
from tessera.machine.container.toolchain import HostToolchain
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.request import CORE, MEASURED, SIMULATED, MeasurementOptions, ReadyWorkload
from tessera.measure.suggest import sampled_profile
from tessera.record.workloads.program_run import WORKLOADS

_SAME_SPAN = 0.01  #: a recording is of this size if its pools are as large as here, within this share


@dataclass(frozen=True)
class Chosen:
    """Layouts in the order of the method, and where sliding windows come from (empty: there are none).

    ``platform``: of the simulated misses; ``reason``: why misses were not measured.
    """

    layouts: tuple[Layout, ...]
    source: str = ""
    platform: str = ""
    reason: str = ""


def layouts_of_workload(
    row: ReadyWorkload,
    used: dict[str, int],
    request: MeasurementOptions,
    where: MeasurementSite,
    class_name: str,
) -> Chosen:
    """The layouts of one workload.

    Args:
        used: pool -> bytes that the program used, of a run on this machine.

    Raises:
        TesseraError: ``full`` without a profile, or the profile is of another size of the workload.
    """
    space = Space({pool: round_up(used.get(pool, 0), PAGE_2MB) for pool in row.pool_bytes}, row.pool_bytes)
    if not space.size:
        raise TesseraError(f"layouts of {row.workload}", "it used no memory of its pools", "choose another")
    if request.layouts == CORE:
        named = [space.layout(name, *space.span(*span)) for name, *span in generation.growing_windows(space)]
        return Chosen((*named, space.layout_1gb()))
    reason = _not_sampled(row, where)
    if not reason:  # samples do not reach every page, so windows may lie on all of them
        return Chosen(tuple(generation.generate_layouts(space, _measured(row), seed=request.seed)), MEASURED)
    platform = f"{class_name}-sim"
    profile = _simulated(row, used, request.results, platform, reason)
    space = generation.on_touched(space, profile)
    layouts = tuple(generation.generate_layouts(space, profile, seed=request.seed))
    return Chosen(layouts, SIMULATED, platform, reason)


def _not_sampled(row: ReadyWorkload, where: MeasurementSite) -> str:
    """Why the misses of this program are not sampled here; empty if they are."""
    if where.rehearsal:
        return "a rehearsal samples nothing"
    if row.run.image == WORKLOADS and not isinstance(where.toolchain(row.run), HostToolchain):
        return "its program is in an image, and perf samples programs of this machine"
    if row.run.target:
        return f"it starts {Path(row.run.target).name} by a script, and perf samples the script, too"
    return sampled_profile.why_unusable()


def _measured(row: ReadyWorkload) -> pd.DataFrame:
    """Samples of the program with its own folder and variables."""
    run = row.run
    words = ["-C", str(run.folder)] if run.folder else []
    words += [f"{name}={value}" for name, value in run.environment.items()]
    argv = ("env", *words, *run.argv) if words else run.argv
    with tempfile.TemporaryDirectory(prefix="tessera-profile-") as folder:
        found = sampled_profile.recorded_profile(argv, Path(folder), pool_bytes=row.pool_bytes, load=None)
    rows = [(pool, offset, round(misses)) for (pool, offset), misses in sorted(found.misses.items())]
    return pd.DataFrame(rows, columns=list(PROFILE.names))


def _simulated(
    row: ReadyWorkload, used: dict[str, int], results: Path, platform: str, reason: str
) -> pd.DataFrame:
    tree = ResultsTree(results)
    path = tree.profile(row.workload, platform)
    if not path.exists():
        raise TesseraError(
            f"layouts full of {row.workload}",
            f"sliding windows follow TLB misses; they can't be sampled ({reason}), and {path} does not exist",
            "name a results folder with this workload and platform: --results DIR; or --layouts core",
            code="no-profile",
        )
    info, _ = read_recording(tree.info(row.workload))
    for pool in info.get("pools", ()):
        there, here = pool["used_bytes"], used.get(pool["kind"], 0)
        if pool["kind"] in used and abs(there - here) > max(PAGE_2MB, _SAME_SPAN * here):
            raise TesseraError(
                f"layouts full of {row.workload}",
                f"the recording in {results} used {format_bytes(there)} of pool {pool['kind']}, this size "
                f"uses {format_bytes(here)}",
                "give the results of the same size: --results DIR; or --layouts core",
                code="profile-size",
            )
    return read_file(PROFILE, path)
