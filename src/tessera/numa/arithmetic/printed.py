"""Numbers of the text beside those of tables and of the archive.

Maxima and minima that the text prints must be those of the archived bars, within the rounding of their
printed digits. :mod:`tessera.reference.comparison` computes most of them. The shares of Figure 4, the
working sets of Table 1 and the lines of section 8.2 are added here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera import reference
from tessera.numa.archive import Archive
from tessera.numa.arithmetic.check import Check
from tessera.numa.machine import LINE_BYTES, printed
from tessera.reference.comparison import compare

_ENTRY_BYTES = 8
_PAGE_BYTES = 2 << 20


def printed_values(archive: Archive) -> Iterator[Check]:
    """Numbers of the text are those of the figures."""
    for _, row in compare(archive.good, archive.every, None).iterrows():
        if pd.isna(row["archived"]) or row["quantity"].startswith("overhead of "):
            continue
        slack = _half_a_digit(row["printed"])
        lower = 0 if row["bound"] == "at most" else row["printed"] - slack
        yield Check(
            row["quantity"], "all", "", float(row["archived"]), lower, row["printed"] + slack, row["unit"],
            f"{row['location']}, printed {row['printed']:g}",
        )  # fmt: skip
    yield _shares(archive)
    sizes = reference.select("mitosis_table1", {"scenario": "migration"})["value"]
    for what, value in (("least", sizes.min()), ("most", sizes.max())):
        text = printed(f"working_set_{what}")
        yield Check(
            f"working_set_{what}", "all", "", float(value), text - 0.5, text + 0.5, "GB",
            f"Table 1; section 8.2 prints {text:g}",
        )  # fmt: skip
    covered = LINE_BYTES // _ENTRY_BYTES * _PAGE_BYTES
    text = printed("data_lines_per_leaf_line_2mb")
    yield Check(
        "data_lines_per_leaf_line", "GUPS", "2MB", covered / LINE_BYTES / 1024, text / 1e3 - 0.5,
        text / 1e3 + 0.5, "1024 lines", "8 entries of 2MB pages in a line; section 8.2",
    )  # fmt: skip


def _shares(archive: Archive) -> Check:
    shares = archive.good[archive.good["quantity"] == "remote_leaf_entries"]["value"]
    text = reference.lookup("mitosis_text", {"quantity": "remote_leaf_share_one_socket"})
    most = float(shares.max()) if len(shares) else float("nan")
    return Check(
        "remote_leaf_share_one_socket", "all", "", most, text - 0.5, text + 0.5, "percent",
        f"Figure 4; section 3.1 prints {text:g}",
    )  # fmt: skip


def _half_a_digit(value: float) -> float:
    decimals = len(f"{value:g}".partition(".")[2])
    return 0.5 * 10.0**-decimals
