"""The study of transfer in an archive: its tables in little space, and a fingerprint of the code behind them.

Large tables are `.csv.gz`. Columns of the predictions that follow from others are left out and computed again
by :func:`read`. The *fingerprint* is what the simulator gives today for a small made-up trace: P and every
variant under three layouts and one mapping. If it differs from the archived one, the archive is stale.
"""

from __future__ import annotations

import gzip
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core import platforms
from tessera.core.files import writing
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.results import transfer_tables as schema
from tessera.core.results.schema import Table
from tessera.core.results.table_io import frame_of, read_file, with_whole_counts, write_table
from tessera.core.results.tree import ResultsTree
from tessera.lab.numa.gups import BASE, RECORD
from tessera.lab.studies import placements
from tessera.lab.transfer import predictions
from tessera.lab.transfer.classes import FEW, VARIANTS
from tessera.lab.transfer.points import point_rows
from tessera.lab.transfer.runs import Runs, units_of
from tessera.lab.transfer.study import Subject, measured_points
from tessera.record import traces
from tessera.simulate.runner import CellCache

#: What an archive keeps of the predictions; the rest follows from the points and the twins.
KEPT = replace(
    schema.PREDICTIONS,
    columns=tuple(c for c in schema.PREDICTIONS.columns if c.name not in predictions.DERIVED),
)
PACKED: tuple[Table, ...] = (
    schema.SAMPLES, schema.FITS, schema.POINTS, KEPT, schema.ANSWERED, schema.TWINS,
)  # fmt: skip
PLAIN: tuple[Table, ...] = (schema.VERDICTS, schema.WIDTHS, schema.NEW_DESIGNS)
FINGERPRINT = "fingerprint.csv"
PLATFORM = "haswell-sim"
_BYTES = 256 << 20  #: of the pool
_LOADS = 30_000


def packed(table: Table, tree: ResultsTree) -> Path:
    """Where an archive has one of :data:`PACKED`."""
    return table.place(tree).with_suffix(".csv.gz")


def keep(results: ResultsTree, archive: ResultsTree) -> None:
    """Write the study of a run into an archive, with a new fingerprint.

    Raises:
        TesseraError: the run has no study, or the simulator is not built.
    """
    found = {table: read_file(table, table.place(results)) for table in (*PACKED, *PLAIN)}
    for table, frame in found.items():
        if table in PLAIN:
            write_table(table, frame, table.place(archive))
            continue
        text = with_whole_counts(table, frame).to_csv(
            index=False, lineterminator="\n", float_format=table.float_format
        )
        path = packed(table, archive)
        with writing(path, "wb") as stream:
            stream.write(gzip.compress(text.encode(), 9, mtime=0))
    write_table(schema.POINTS, fingerprint(), schema.POINTS.place(archive).with_name(FINGERPRINT))


def read(archive: ResultsTree) -> dict[str, pd.DataFrame]:
    """Tables of an archive by name, without the ladder; predictions are whole.

    Raises:
        Unreadable: a table is missing, or has other columns than this version.
    """
    found = {table.name: read_packed(table, archive) for table in PACKED}
    found |= {table.name: read_file(table, table.place(archive)) for table in PLAIN}
    found[KEPT.name] = predictions.completed_predictions(
        found[KEPT.name], found[schema.POINTS.name], found[schema.TWINS.name]
    )
    return found


def read_packed(table: Table, archive: ResultsTree) -> pd.DataFrame:
    """One of :data:`PACKED`; errors as :func:`read`."""
    path = packed(table, archive)
    if not path.is_file():
        return read_file(table, path)  # says that it is missing
    with tempfile.TemporaryDirectory(prefix="tessera-archive-") as name:
        plain = Path(name) / path.stem
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        return read_file(table, plain, str(path))


def fingerprint() -> pd.DataFrame:
    """Points (table POINTS) of all variants of haswell-sim on a made-up trace; takes seconds.

    Raises:
        TesseraError: the tracer or the simulator is not built.
    """
    platform = platforms.load_platform(PLATFORM)
    with tempfile.TemporaryDirectory(prefix="tessera-fingerprint-") as name:
        folder = Path(name)
        trace = _trace(folder)
        files = [_layout(folder, name, share) for name, share in zip(FEW, (0.0, 0.5, 1.0), strict=True)]
        made = placements.make_mappings(trace, ("medium",), 1, folder, lambda line: None)
        runs = Runs("fingerprint", trace, units_of(trace, 4, 1), CellCache(None), jobs=2)
        subject = Subject(
            runs, platform, files, made.files, VARIANTS, (), folder, 0, 1, False,
            made.rows[0]["touched_pages"],
        )  # fmt: skip
        pair = {"workload": "fingerprint", "platform": PLATFORM, "provenance": "simulated"}
        rows = [pair | row for point in measured_points(subject).points for row in point_rows(point)]
    return frame_of(schema.POINTS, rows)


def _trace(folder: Path) -> Path:
    """Loads whose pages follow Zipf's law, each followed by a branch; nothing runs."""
    random = np.random.default_rng(44)
    page = random.permutation(_BYTES >> 12)[np.minimum(random.zipf(1.2, _LOADS), _BYTES >> 12) - 1]
    records = np.zeros(2 * _LOADS, RECORD)
    records["ip"][0::2], records["ip"][1::2] = 0x1000, 0x1004
    records["loads"][0::2, 0] = BASE + 4096 * page + 64 * random.integers(0, 64, _LOADS)
    records["is_branch"][1::2] = records["branch_taken"][1::2] = 1
    records.tofile(folder / "made.champsim")
    traces.import_champsim(
        folder / "made.champsim", folder / "trace.tst", mmap_pool=f"{BASE:#x}:{BASE + _BYTES:#x}"
    )
    return folder / "trace.tst"


def _layout(folder: Path, name: str, share: float) -> Path:
    """The first ``share`` of the pool in 2MB pages."""
    end = int(share * _BYTES)
    windows = (Window("mmap", 0, end, 2 << 20),) if end else ()
    path = folder / f"{name}.csv"
    write_layout(Layout(name, {"mmap": _BYTES}, windows), path)
    return path
