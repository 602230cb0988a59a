"""Damaged tables are refused, or read with exactly the values that the slow reader finds.

TESSERA_DAMAGED_TABLES sets how many tables each reader gets (500 by default).
"""

import os
import random
import warnings

import pytest

from tessera.core.errors import TesseraError

from .damage import damaged
from .readers import READERS, make_logs, same
from .slow import Refused
from .ways import KINDS, STRICT, WAYS

COUNT = int(os.environ.get("TESSERA_DAMAGED_TABLES", "500"))
SEED = int(os.environ.get("TESSERA_DAMAGED_SEED", "1"))
PLAIN = ("plain", "CRLF", "no line end at the end", "mark", "csv module", "Excel with semicolons")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", READERS)
def test_no_damaged_table_gives_a_wrong_number(kind, tmp_path):
    rows_of = (KINDS | STRICT)[kind]
    ways = PLAIN if kind in STRICT else tuple(WAYS)
    make_logs(tmp_path)
    path, rng = tmp_path / "table.csv", random.Random(f"{SEED} {kind}")
    read, refused, lenient, wrong = 0, 0, 0, []
    for _ in range(COUNT):
        with warnings.catch_warnings(action="ignore"):
            data = damaged(rng, rows_of(), ways)
        path.write_bytes(data)
        try:
            meant = READERS[kind].slow(data, tmp_path)
        except Refused as error:
            meant = error
        try:
            found = READERS[kind].fast(path)
        except TesseraError as error:
            assert error.asked and error.found and error.remedy
            refused += 1
            lenient += not isinstance(meant, Refused)
            continue
        read += 1
        if isinstance(meant, Refused) or not same(found, meant):
            wrong.append(f"{data!r}\n  read: {found}\n  meant: {meant!r}")
    print(f"{kind}: {COUNT} tables, {read} read, {refused} refused, of these {lenient} that have a meaning")
    assert not wrong, f"{len(wrong)} wrong, the first: {wrong[0]}"
    assert read > COUNT / 50 and refused > COUNT / 50
