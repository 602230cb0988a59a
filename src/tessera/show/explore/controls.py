"""The menus of notebook 02: workload, platform, models, layouts, training set.

Picture and table are ordinary outputs that the menus update, so a page made from the notebook shows their
first state; only the menus need JupyterLab.
"""

from __future__ import annotations

from tessera.fit.models.registry import EVERY
from tessera.show.explore.fits import FAMILIES, SHOWN, draw_fits
from tessera.show.explore.source import Source
from tessera.show.explore.training import EVERY_LAYOUT, SETS, fit_on
from tessera.show.explore.widgets import Followed, bar


class Controls(Followed):
    """Menus and the picture and table that follow them."""

    def __init__(self, source: Source, workload: str, platform: str):
        pair = source.pair(workload, platform)
        self.source = source
        self.chosen = {
            "workload": pair.workload, "platform": pair.platform, "models": SHOWN,
            "layouts": FAMILIES, "training": EVERY_LAYOUT,
        }  # fmt: skip

    def view(self):
        """(figure, table of errors) of what is chosen."""
        pair = self.source.pair(self.chosen["workload"], self.chosen["platform"])
        chosen = self.chosen["models"], self.chosen["layouts"], self.chosen["training"]
        fitted, (trains, held_out), table = fit_on(pair, *chosen)
        title = f"{pair.title}, trained on {self.chosen['training']}"
        return draw_fits(title, pair.provenance, fitted, trains, held_out), table

    def changed(self, name: str, value) -> None:
        """A menu moved: the chosen pair may not exist on every platform, so the platform follows."""
        self.chosen[name] = value
        pairs = {(w, p) for w, p in self.source.results.pairs()}
        if (self.chosen["workload"], self.chosen["platform"]) not in pairs:
            self.chosen["platform"] = self.source.pair(self.chosen["workload"]).platform
        self.update()

    def widgets(self):
        """The menus."""
        return _bar(self)


def controls(source: Source, workload: str = "", platform: str = "") -> None:
    """Show the menus with a pair chosen; nothing is returned, so that the cell prints nothing else."""
    Controls(source, workload, platform).show()


def _bar(owner: Controls):
    import ipywidgets

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
    found = bar(
        [ipywidgets.HBox([choose, menus["models"], menus["layouts"]])],
        [menu.description for menu in menus.values()],
    )
    found.menus = menus
    return found


__all__ = ["Controls", "controls"]
