"""A study without numbers: the row that says why, and its message."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results.outcomes import FAILED
from tessera.core.results.schema import Table
from tessera.core.results.table_io import frame_of


def failed_rows(table: Table, head: Mapping[str, str], message: str) -> pd.DataFrame:
    """``table`` with one row: the columns of ``head``, and why there is no study."""
    return frame_of(table, [{**head, "status": FAILED, "message": message}])


def one_line(error: TesseraError) -> str:
    """An error as the message of a row; texts of programs in it may have several lines."""
    return " ".join(error.sentence.split())
