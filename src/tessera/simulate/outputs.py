"""Files that ``tessera simulate`` writes beside the cells, and the check of its files before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import check_target, write_csv
from tessera.simulate.rows import TEXT


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
