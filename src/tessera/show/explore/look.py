"""How a notebook looks: the report's figures as SVG that is the same at every run, numbers short."""

from __future__ import annotations

import warnings

import matplotlib
import pandas as pd

from tessera.show.figures import style

#: Where figures go is the notebook's own business.
PLACES = ("backend", "backend_fallback", "interactive", "toolbar")


def look() -> None:
    """Set matplotlib and pandas up; the first cell of every notebook calls it.

    Figures become SVG without a date and with ids that depend on their content only: a notebook that is
    executed again on the same data is the same file. Outside IPython only the settings are made.
    """
    with style.context():
        settings = {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key not in PLACES}
    matplotlib.rcParams.update(settings)
    # without the path and line of a notebook's cell, which say nothing
    warnings.formatwarning = lambda message, category, *_, **__: f"{category.__name__}: {message}\n"
    pd.options.display.float_format = "{:,.4g}".format
    pd.options.display.max_colwidth = 110
    pd.options.display.max_rows = 80
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    if get_ipython() is not None:
        get_ipython().run_line_magic("matplotlib", "inline")
        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": "Tessera"})


def tidy(table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """These columns; what is unknown is empty instead of NaN."""
    chosen = table[list(columns)].astype(object)
    return chosen.where(chosen.notna(), "")


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Fractions as percentages, empty where there is none."""
    return table.map(lambda share: "" if pd.isna(share) else style.percent(float(share)))
