"""Layouts that are faster with fewer huge pages (OPERA 2.5.3): a layout and the fastest with fewer."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB


class Loss(NamedTuple):
    """Loss of a layout against the fastest one with fewer 2MB pages; below 0 if all of those are slower."""

    loss: float  #: fraction of the other's runtime
    fastest: str  #: name of that layout
    fastest_pages: int
    pages: int  #: 2MB pages of the layout itself


def loss(runtimes: pd.Series, pages: pd.Series, layout: str = ALL_2MB) -> Loss | None:
    """None if ``layout`` did not run, or no layout with fewer pages did. The 1GB layout is left out.

    Args:
        runtimes: runtime by layout.
        pages: 2MB pages by layout (``pages_2mb`` of the manifest).
    """
    both = pd.DataFrame({"runtime": runtimes, "pages": pages}).dropna().drop(index=ALL_1GB, errors="ignore")
    if layout not in both.index:
        return None
    mine = both.loc[layout]
    fewer = both[both["pages"] < mine["pages"]]
    if fewer.empty:
        return None
    best = fewer["runtime"].idxmin()
    lost = mine["runtime"] / fewer.at[best, "runtime"] - 1
    return Loss(float(lost), best, int(fewer.at[best, "pages"]), int(mine["pages"]))
