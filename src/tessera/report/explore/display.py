"""How a notebook looks: figures as SVG, the same at every run, short numbers, widgets and their outputs."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

import matplotlib
import pandas as pd

from tessera.report.figures import style

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
    return table.map(lambda share: "" if pd.isna(share) else style.percent_text(float(share)))


# Widgets of a notebook, and outputs that follow them.
#
# The outputs are ordinary ones that the widgets update, so a page made from the notebook shows their first
# state; only the widgets need JupyterLab.

NO_WIDGETS = (
    "Menus need ipywidgets, which is not installed: ./run setup. Below is what they would show at the start."
)
#: In pages and in JupyterLab before the cell has run.
IN_PAGES = "[In JupyterLab, menus stand here: {}. `./run notebooks` starts it.]"


class Followed(ABC):
    """``bar`` has the widgets (None: not shown, or ipywidgets is not installed)."""

    bar = None
    _handles: Sequence = ()

    @abstractmethod
    def view(self):
        """The output of what is chosen, or a tuple of outputs."""

    @abstractmethod
    def widgets(self):
        """The widgets, as :func:`widget_bar` makes them."""

    def show(self) -> Self:
        """Display widgets and outputs."""
        from IPython.display import display

        try:
            self.bar = self.widgets()
            display(self.bar)
        except ImportError:
            print(NO_WIDGETS)
        self._handles = [display(part, display_id=True) for part in self._parts()]
        return self

    def update(self) -> None:
        """Show what is chosen now."""
        for handle, part in zip(self._handles, self._parts(), strict=False):
            if handle is not None:
                handle.update(part)

    def _parts(self) -> tuple:
        found = self.view()
        return found if isinstance(found, tuple) else (found,)


def widget_bar(children: Sequence, words: Sequence[str]):
    """Widgets below each other. Where widgets can't be shown, their text says what they are: ``words``."""
    import ipywidgets

    class Bar(ipywidgets.VBox):
        def _repr_mimebundle_(self, **options):
            bundle = super()._repr_mimebundle_(**options) or {}
            return {**bundle, "text/plain": IN_PAGES.format(", ".join(words))}

    return Bar(children)
