"""Widgets of a notebook, and outputs that follow them.

The outputs are ordinary ones that the widgets update, so a page made from the notebook shows their first
state; only the widgets need JupyterLab.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

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
        """The widgets, as :func:`bar` makes them."""

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


def bar(children: Sequence, words: Sequence[str]):
    """Widgets below each other. Where widgets can't be shown, their text says what they are: ``words``."""
    import ipywidgets

    class Bar(ipywidgets.VBox):
        def _repr_mimebundle_(self, **options):
            bundle = super()._repr_mimebundle_(**options) or {}
            return {**bundle, "text/plain": IN_PAGES.format(", ".join(words))}

    return Bar(children)
