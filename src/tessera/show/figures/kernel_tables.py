"""Configurations of the tables of ``snakemake kernel``, as figures name and order them."""

from __future__ import annotations

import pandas as pd

#: configuration of the paper's Table 3 -> words
CONFIGS = {
    "F": "first touch",
    "I": "interleaved",
    "F+M": "first touch, replicas",
    "I+M": "interleaved, replicas",
}


def configs_of(table: pd.DataFrame) -> list[str]:
    """Configurations of a table in the paper's order, others behind them."""
    found = list(dict.fromkeys(table["config"]))
    return [name for name in CONFIGS if name in found] + [name for name in found if name not in CONFIGS]
