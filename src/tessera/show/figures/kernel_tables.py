"""Tables of ``snakemake kernel`` for figures; a run without them has no such figure."""

from __future__ import annotations

import pandas as pd

from tessera.kernel import ALL_PARTS
from tessera.show.figures.tables import NotDrawn, Results

#: configuration of the paper's Table 3 -> words
CONFIGS = {
    "F": "first touch",
    "I": "interleaved",
    "F+M": "first touch, replicas",
    "I+M": "interleaved, replicas",
}


def read(results, figure: str, name: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """``kernel/<name>`` of a results tree.

    Raises:
        NotDrawn: no such table, one without rows, or one with other columns.
    """
    path = Results.of(results).directory / "kernel" / name
    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        raise NotDrawn(f"figure {figure}", f"kernel/{name} is not among the results", ALL_PARTS) from None
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise NotDrawn(f"figure {figure}", f"kernel/{name} cannot be read: {error}", ALL_PARTS) from None
    lacking = [column for column in columns if column not in table]
    if lacking or table.empty:
        found = f"lacks {', '.join(lacking)}" if lacking else "has no rows"
        raise NotDrawn(f"figure {figure}", f"kernel/{name} {found}", ALL_PARTS)
    return table


def configs_of(table: pd.DataFrame) -> list[str]:
    """Configurations of a table in the paper's order, others behind them."""
    found = list(dict.fromkeys(table["config"]))
    return [name for name in CONFIGS if name in found] + [name for name in found if name not in CONFIGS]
