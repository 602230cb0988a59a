"""The study of designs: each translation design under each mapping of one window.

See docs/explain/studies.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.platforms import Platform, Value
from tessera.core.results.outcomes import FAILED, TRACE_NAME, is_ok
from tessera.core.results.study_tables import DESIGN_CELLS, DESIGN_MAPPINGS, DESIGN_STRUCTURES
from tessera.core.results.table_io import frame_of
from tessera.core.tables import print_table
from tessera.lab.studies import design_catalogue, placements
from tessera.lab.studies.design_catalogue import (
    BASELINE_DESIGN,
    DESIGN_NAMES,
    FIRST_LEVEL,
    SECOND_LEVEL,
    THP,
    hides,
    named_design,
)
from tessera.lab.studies.windows import middle
from tessera.lab.study import Count, Inputs, Jobs, Names, Recording, Run, Seed, study
from tessera.record import traces
from tessera.simulate.inputs import MAPPING
from tessera.simulate.runner import CellCache, simulate_platform

# Cells of the study: designs under mappings, in full, with the engine ``timing``.
#
# A design that the simulator rejects for a mapping (for example more than 2,048 segments) gives a row with
# the status ``refused`` and the reason; the others continue. A row of another failure has the status
# ``failed``, and the next run tries the study again.

REFUSED = "refused"
#: Status of the process, if the simulator rejects its input.
_WRONG_REQUEST = 2
_COUNTS = ("runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles", "instructions", "accesses")
#: column of a change -> (the count, the design that it is compared with)
CHANGES = {
    "misses_to_baseline_percent": ("stlb_misses", BASELINE_DESIGN),
    "runtime_to_baseline_percent": ("runtime_cycles", BASELINE_DESIGN),
    "misses_to_thp_percent": ("stlb_misses", THP),
    "runtime_to_thp_percent": ("runtime_cycles", THP),
}
KEYS = ["workload", "platform", "mapping"]


def cells_and_structures(
    inputs: Inputs, wanted: Mapping[str, Sequence[str]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables :data:`DESIGN_CELLS` (with changes) and :data:`DESIGN_STRUCTURES`.

    Args:
        inputs: its files are mappings; a file's stem is the mapping's name.
        wanted: design -> its mappings; those without a file are left out.
    """
    files = {path.stem: path for path in inputs.files}
    cells: list[dict] = []
    structures: list[dict] = []
    for number, (design, mappings) in enumerate(wanted.items(), 1):
        inputs.say(f"{design} ({number} of {len(wanted)})")
        mine = replace(inputs, files=[files[name] for name in mappings if name in files])
        for row, parts in _of_design(mine, design):
            cells.append(row)
            structures += parts
    if not any(is_ok(row) for row in cells):  # the trace or the platform is at fault, not a design
        cells = [row | {"status": FAILED} for row in cells]
    return with_changes(frame_of(DESIGN_CELLS, cells)), frame_of(DESIGN_STRUCTURES, structures)


def with_changes(cells: pd.DataFrame) -> pd.DataFrame:
    """The columns of :data:`CHANGES`, in percent; empty if a count is missing or its base is 0."""
    cells = cells.copy()
    for column, (count, design) in CHANGES.items():
        base = cells[cells["design"] == design].set_index(KEYS)[count].rename("base").astype(float)
        joined = cells[[*KEYS, count]].join(base[base > 0], on=KEYS)
        cells[column] = 100 * (joined[count].astype(float) / joined["base"] - 1)
    return cells


def _of_design(inputs: Inputs, design: str) -> list[tuple[dict, list[dict]]]:
    """(cell, its structures) for each mapping. One process for all, or one for each if that one ends."""
    if not inputs.files:
        return []
    platform = _with_design(inputs.platform, design)
    try:
        return _simulated(inputs, design, platform)
    except TesseraError as error:
        if len(inputs.files) == 1:
            return [(_stopped(inputs, design, inputs.files[0].stem, error), [])]
    found = []
    for file in inputs.files:
        try:
            found += _simulated(replace(inputs, files=[file]), design, platform)
        except TesseraError as error:
            found.append((_stopped(inputs, design, file.stem, error), []))
    return found


def _with_design(platform: Platform, name: str) -> Platform:
    """The platform with a design or variant; the simulator checks the values."""
    why = f"study of designs: {name}"
    values = {key: Value(value, why) for key, value in named_design(name).values.items()}
    return replace(platform, values=platform.values | values)


def _simulated(inputs: Inputs, design: str, platform: Platform) -> list:
    parts: list[dict] = []
    rows = simulate_platform(
        inputs.trace, platform, list(inputs.files), structures=parts, kind=MAPPING, **inputs.options
    )
    by_mapping: dict[str, list[dict]] = {file.stem: [] for file in inputs.files}
    for part in parts:
        by_mapping[part["layout"]].append(part)
    return [_counted(inputs, design, platform, row, by_mapping[row["layout"]]) for row in rows]


def _counted(inputs: Inputs, design: str, platform: Platform, row: dict, parts: list[dict]):
    head = _head(inputs, design, row["layout"])
    if not is_ok(row):  # the simulator read its own mapping file and rejected it for this design
        return head | {"status": REFUSED, "message": row["message"]}, []
    cell = head | {"status": row["status"], "message": row["message"]} | {n: row[n] for n in _COUNTS}
    if hides(design, SECOND_LEVEL):
        hits = row["stlb_hits"]
        parts = [
            {"structure": SECOND_LEVEL, "accesses": hits + row["stlb_misses"], "hits": hits},
            *parts,
        ]
    if hides(design, FIRST_LEVEL):  # its hits are not counted: H and M have those of code, too
        parts = [{"structure": FIRST_LEVEL, "accesses": row["accesses"]}, *parts]
    accesses = {part["structure"]: part["accesses"] for part in parts}
    cell["energy_nj"] = design_catalogue.energy_nj(design, accesses, row["runtime_cycles"], platform)
    structures = [
        {name: part.get(name) for name in DESIGN_STRUCTURES.names}
        | head
        | {
            "read_energy_nj": design_catalogue.read_energy_nj(
                design, part["structure"], part["accesses"], platform
            )
        }
        for part in parts
    ]
    return cell, structures


def _stopped(inputs: Inputs, design: str, mapping: str, error: TesseraError) -> dict:
    status = REFUSED if error.exit_code == _WRONG_REQUEST else FAILED
    return _head(inputs, design, mapping) | {"status": status, "message": error.one_line}


def _head(inputs: Inputs, design: str, mapping: str) -> dict:
    return inputs.pair | {"design": design, "mapping": mapping, "provenance": "simulated"}


# The study: mappings for the pools of a window, then designs under them.


def pairs_of(text: str) -> list[tuple[str, str]]:
    """(design, mapping) of DESIGN:MAPPING; of ``a+b:x+y`` each design under each mapping.

    Raises:
        ValueError: another form.
    """
    designs, _, mappings = text.partition(":")
    found = [(design, mapping) for design in designs.split("+") for mapping in mappings.split("+")]
    if ":" in mappings or not all(design and mapping for design, mapping in found):
        raise ValueError(
            f"'{text}' is not DESIGN:MAPPING, for example anchor:high-over-low or anchor+rmm:low+max"
        )
    return found


def check_pairs(texts: Sequence[str]) -> None:
    """Raises ValueError for a text of another form, TesseraError for an unknown mapping."""
    for text in texts:
        placements.check_kinds(list(dict.fromkeys(mapping for _, mapping in pairs_of(text))))


def wanted_mappings(
    designs: Sequence[str], mappings: Sequence[str], also: Sequence[str]
) -> dict[str, list[str]]:
    """Design -> its mappings, each once: every design under each mapping, then the pairs of ``also``."""
    pairs = [(design, mapping) for design in designs for mapping in mappings]
    pairs += [pair for text in also for pair in pairs_of(text)]
    found: dict[str, list[str]] = {}
    for design, mapping in dict.fromkeys(pairs):
        found.setdefault(design, []).append(mapping)
    return found


def show_designs(cells: pd.DataFrame, *_: pd.DataFrame) -> None:
    """Print misses relative to those of the baseline, designs by mappings."""
    if not cells["misses_to_baseline_percent"].notna().any():
        return
    mappings = list(dict.fromkeys(cells["mapping"]))
    rows = []
    for design, part in cells.groupby("design", sort=False):
        change = part.set_index("mapping")["misses_to_baseline_percent"]
        left = [100 + change.get(mapping, float("nan")) for mapping in mappings]
        rows.append((str(design), *("" if value != value else f"{value:.1f}%" for value in left)))
    print_table(["misses of baseline's", *mappings], rows, right=range(1, len(mappings) + 1))


@study(
    DESIGN_CELLS, DESIGN_STRUCTURES, DESIGN_MAPPINGS, failed={"provenance": "simulated"}, show=show_designs
)
def designs(
    run: Run,
    trace: Recording,
    platform: Platform,
    cache: CellCache,
    designs: Names = DESIGN_NAMES,
    mappings: Annotated[tuple[str, ...], placements.check_kinds] = placements.KINDS,
    also: Annotated[tuple[str, ...], check_pairs] = (),
    accesses: Count | None = None,
    seed: Seed = 1,
    jobs: Jobs = 1,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Compare translation designs under mappings of pages to frames.

    Generates the mappings for the pools of the trace, and simulates each design under each of them, in full.
    A design that the simulator rejects for a mapping is a row with the reason. Prints the misses of each
    design relative to the design `baseline`. docs/explain/studies.md explains the study.

    Example, after ./run smoke:
      ./run tessera lab run designs trace=results/smoke/traces/gups/info.json accesses=200000 \\
        platform=park-haswell designs=baseline,thp,anchor mappings=demand,medium \\
        also=anchor:high-over-low,anchor:pages-64 --out /tmp/designs-study

    Args:
        trace: trace (.tst), or info.json of a recording or window.
        platform: name or YAML file; the tables of Park, KAIST 2019, are for park-haswell.
        designs: those to compare (tessera simulate --list); default: all of Park that one process can have.
        mappings: kinds of mappings (tessera mapping generate --help).
        also: further designs under mappings of their own, DESIGN:MAPPING,...; a+b:x+y is each design under
          each mapping.
        accesses: simulate so many from the middle of the trace; default: the whole trace.
        seed: of the mappings.
        jobs: mappings at the same time.
        cache: folder of finished simulations; default: .cache beside the tables.
    """
    wanted = wanted_mappings(designs, mappings, also)
    kinds = list(dict.fromkeys(name for names in wanted.values() for name in names))
    with tempfile.TemporaryDirectory(prefix="tessera-designs-") as name:
        folder = Path(name)
        window = _window(trace.trace, accesses, folder)
        made = placements.make_mappings(window, kinds, seed, folder, run.say)
        files = list(made.files.values())
        inputs = Inputs(trace.workload, window, platform, files, cache, jobs=jobs, say=run.say)
        cells, structures = cells_and_structures(inputs, wanted)
    return cells, structures, frame_of(DESIGN_MAPPINGS, [inputs.pair | row for row in made.rows])


def _window(trace: Path, accesses: int | None, folder: Path) -> Path:
    """The trace, or a part from its middle, as a file in the folder."""
    available = traces.trace_info(trace)["accesses"]
    if accesses is None or accesses >= available:
        return trace
    target = folder / TRACE_NAME
    traces.cut(trace, target, start_access=middle(available, accesses), accesses=accesses)
    return target
