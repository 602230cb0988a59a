"""The menus of notebook 02: workload, platform, models, layouts, training set.

Picture and table are ordinary outputs that the menus update, so a page made from the notebook shows their
first state; only the menus need JupyterLab.
"""

from __future__ import annotations

from tessera.fit.models.registry import EVERY
from tessera.show.explore.fits import FAMILIES, SHOWN, draw_fits
from tessera.show.explore.source import Source
from tessera.show.explore.training import EVERY_LAYOUT, SETS, fit_on

NO_WIDGETS = (
    "Menus need ipywidgets, which is not installed: ./run setup. Below is what they would show at the start."
)
#: In pages and in JupyterLab before the cell has run.
IN_PAGES = "[In JupyterLab, menus stand here: {}. `./run notebooks` starts it.]"


class Controls:
    """Menus (ipywidgets; None if not installed) and the picture and table that follow them."""

    def __init__(self, source: Source, workload: str, platform: str):
        pair = source.pair(workload, platform)
        self.source, self.bar, self._handles = source, None, []
        self.chosen = {
            "workload": pair.workload, "platform": pair.platform, "models": SHOWN,
            "layouts": FAMILIES, "training": EVERY_LAYOUT,
        }  # fmt: skip

    def view(self):
        """(figure, table of errors) of what is chosen."""
        pair = self.source.pair(self.chosen["workload"], self.chosen["platform"])
        chosen = self.chosen["models"], self.chosen["layouts"], self.chosen["training"]
        fitted, (trains, held_out), table = fit_on(pair, *chosen)
        title = f"{pair.workload} on {pair.platform}, trained on {self.chosen['training']}"
        return draw_fits(title, pair.provenance, fitted, trains, held_out), table

    def show(self) -> Controls:
        """Display menus, picture and table; the last two follow the menus."""
        from IPython.display import display

        try:
            self.bar = _bar(self)
            display(self.bar)
        except ImportError:
            print(NO_WIDGETS)
        self._handles = [display(part, display_id=True) for part in self.view()]
        return self

    def changed(self, name: str, value) -> None:
        """A menu moved: the chosen pair may not exist on every platform, so the platform follows."""
        self.chosen[name] = value
        pairs = {(w, p) for w, p in self.source.results.pairs()}
        if (self.chosen["workload"], self.chosen["platform"]) not in pairs:
            self.chosen["platform"] = self.source.pair(self.chosen["workload"]).platform
        for handle, part in zip(self._handles, self.view(), strict=False):
            if handle is not None:
                handle.update(part)


def controls(source: Source, workload: str = "", platform: str = "") -> None:
    """Show the menus with a pair chosen; nothing is returned, so that the cell prints nothing else."""
    Controls(source, workload, platform).show()


def _bar(owner: Controls):
    import ipywidgets

    class Bar(ipywidgets.VBox):
        """Menus whose text, where widgets can't be shown, says what they are."""

        def _repr_mimebundle_(self, **options):
            bundle = super()._repr_mimebundle_(**options) or {}
            words = ", ".join(menu.description for menu in menus.values())
            return {**bundle, "text/plain": IN_PAGES.format(words)}

    pairs = owner.source.results.pairs()
    wide = {"style": {"description_width": "7em"}, "layout": ipywidgets.Layout(width="25em")}
    tall = {"style": wide["style"], "layout": ipywidgets.Layout(width="24em", height="9.5em")}
    menus = {
        "workload": ipywidgets.Dropdown(
            options=sorted({w for w, _ in pairs}), description="workload", **wide
        ),
        "platform": ipywidgets.Dropdown(
            options=sorted({p for _, p in pairs}), description="platform", **wide
        ),
        "training": ipywidgets.Dropdown(options=list(SETS), description="training set", **wide),
        "models": ipywidgets.SelectMultiple(options=list(EVERY), description="models", **tall),
        "layouts": ipywidgets.SelectMultiple(options=list(FAMILIES), description="layouts", **tall),
    }
    for name, menu in menus.items():
        menu.value = owner.chosen[name]
        menu.observe(lambda change, name=name: owner.changed(name, change["new"]), names="value")
    choose = ipywidgets.VBox([menus[name] for name in ("workload", "platform", "training")])
    bar = Bar([ipywidgets.HBox([choose, menus["models"], menus["layouts"]])])
    bar.menus = menus
    return bar


__all__ = ["Controls", "controls"]
