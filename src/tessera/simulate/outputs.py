"""Cells as tables: a data frame for Python, the variants of ``--each``, and files beside the cells."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import check_target, write_csv, writing
from tessera.core.platforms import Platform, parse_changes, set_values
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.table_io import CELL_COLUMNS, check_cell_format, frame_of, with_whole_counts
from tessera.simulate.inputs import LAYOUT, MAPPING, find_inputs
from tessera.simulate.runner import CellCache, simulate_platform
from tessera.simulate.sampling import Plan, parse_sampling
from tessera.simulate.simulator import TEXT

# ``tessera simulate`` from Python: cells as a pandas data frame.


def simulated_frame(
    trace: str | Path,
    platform: str | Platform,
    *,
    layouts: str | Path | Iterable[str | Path] = (),
    mappings: str | Path | Iterable[str | Path] = (),
    changes: Mapping[str, int | str] | None = None,
    engine: str = "timing",
    sampling: str | Plan = "full",
    threads: int = 1,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """H, M, C and R of a trace, a row per layout or mapping (columns of docs/contracts.md, Cells).

    Args:
        trace: a trace file (.tst).
        platform: a name, the path of a YAML file, or a platform.
        layouts, mappings: files, folders or patterns; exactly one of the two is given.
        changes: values of the platform that differ, as ``--set`` of the command: ``{"mmu.design": "thp"}``.
        engine: ``timing``, ``partial`` (no R) or ``reference``.
        sampling: the plan of ``--sampling``, or a plan.
        cache: folder of finished cells; None: nothing is kept.

    Raises:
        TesseraError: both or none of layouts and mappings, or what the command refuses.
    """
    layouts, mappings = _words_of(layouts), _words_of(mappings)
    if bool(layouts) == bool(mappings):
        raise TesseraError(
            "tessera.simulate", "it needs either layouts or mappings",
            "give, for example: layouts='/tmp/layouts'", code="layouts-or-mappings",
        )  # fmt: skip
    kind = LAYOUT if layouts else MAPPING
    base = platform if isinstance(platform, Platform) else platforms.load_platform(platform)
    rows = simulate_platform(
        Path(trace), set_values(base, dict(changes or {})), find_inputs(layouts or mappings, kind),
        workload=Path(trace).stem, engine=engine,
        sampling=parse_sampling(sampling) if isinstance(sampling, str) else sampling,
        cache=CellCache(None if cache is None else Path(cache)), threads=threads, kind=kind,
    )  # fmt: skip
    return pd.DataFrame(rows, columns=list(CELL_COLUMNS))


def _words_of(given: str | Path | Iterable[str | Path]) -> list[str]:
    return [str(given)] if isinstance(given, str | Path) else [str(word) for word in given]


# Files that ``tessera simulate`` writes beside the cells, and the check of its files before it starts.


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[Path], cache: Path) -> None:
    """Reject, before the simulation, outputs that can't be written or that another option also names.

    Args:
        outputs: option -> its file, None if the option is not given.

    Raises:
        TesseraError: names the option and the file.
    """
    named = {path.resolve(): f"an input, {path}" for path in inputs if path.is_file()}
    for option, path in outputs.items():
        if path is None:
            continue
        target = check_target(path)
        if target in named:
            raise TesseraError(f"{option} {path}", f"it is {named[target]}", "name another file")
        named[target] = f"the file of {option}"
    check_target(cache / "cell.json")


def write_parts(rows: list[dict], columns: tuple[str, ...], path: Path, keys: Iterable[str] = ()) -> None:
    """Write units or structures as CSV; the columns are ``platform``, ``keys`` and ``columns``.

    Numbers of ``columns`` are whole.
    """
    table = pd.DataFrame(rows, columns=["platform", *keys, *columns])
    for name in set(columns) - set(TEXT):
        table[name] = table[name].astype("Int64")
    write_csv(table, path)


# ``--each KEY=V1,V2,...``: the variants of a platform that one command simulates together.

EACH_OPTION = "--each"


@dataclass(frozen=True)
class KeyValues:
    """One choice of values for the keys of ``--each``, in the order of the command line."""

    values: Mapping[str, int | str]


def variants_of(texts: Iterable[str], fixed: Mapping[str, int | str]) -> list[KeyValues]:
    """All combinations of the values that the options give; the first option changes slowest.

    Args:
        texts: ``KEY=V1,V2,...`` of each option.
        fixed: what ``--set`` changes.

    Raises:
        TesseraError: an option without a key or value, a value given twice, or a key that another option has.
    """
    choices: dict[str, list[int | str]] = {}
    for text in texts:
        key, _, values = text.partition("=")
        if key in choices or key in fixed:
            other = EACH_OPTION if key in choices else "--set"
            raise TesseraError(f"{EACH_OPTION} {text}", f"{other} has the key {key}, too", "keep one of them")
        choices[key] = [parse_changes([f"{key}={value}"], EACH_OPTION)[key] for value in values.split(",")]
        if len(set(choices[key])) < len(choices[key]):
            raise TesseraError(f"{EACH_OPTION} {text}", "a value is given twice", "give each value once")
    return [KeyValues(dict(zip(choices, row, strict=True))) for row in itertools.product(*choices.values())]


def variants_table(rows: list[dict], keys: list[str]) -> pd.DataFrame:
    """The cells table with a column for each of ``keys``, which rows have, behind the column ``platform``."""
    table = frame_of(CELLS, rows)
    at = list(table.columns).index("platform") + 1
    for i, key in enumerate(keys):
        table.insert(at + i, key, [row[key] for row in rows])
    return table


def write_variants_table(rows: list[dict], keys: list[str], path: Path) -> None:
    """Write :func:`variants_table`, CSV or Parquet by the suffix of ``path``.

    Raises:
        TesseraError: the file can't be written.
    """
    table = with_whole_counts(CELLS, variants_table(rows, keys))
    if check_cell_format(path) == ".csv":
        with writing(path) as stream:
            table.to_csv(stream, index=False, lineterminator="\n", float_format=CELLS.float_format)
        return
    with writing(path, "wb") as stream:
        table.to_parquet(stream, index=False)
