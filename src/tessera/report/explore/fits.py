"""Samples and fitted models of one pair: tables, pictures, training sets, menus, and a model of your own."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from tessera.core.errors import unknown_name
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.fit.evaluation.accuracy import accuracy, relative_errors
from tessera.fit.evaluation.cross_validation import held_out_errors
from tessera.fit.fit_folder import FitResult
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.registry import EVERY, MODELS, create
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import predict_runtime
from tessera.report.explore.display import Followed, shares, widget_bar
from tessera.report.explore.source import PairSamples, ResultsSource
from tessera.report.figures import style

# Samples and fitted models of one pair, as tables and pictures.

#: Heuristics of MICRO'20 VI-B, as layouts' names begin.
FAMILIES = ("growing", "random", "sliding-20", "sliding-40", "sliding-60", "sliding-80")
INPUTS = {"C": ("walk_cycles", "walk cycles"), "M": ("stlb_misses", "misses"), "H": ("stlb_hits", "hits")}
SHOWN = ("basu", "yaniv", "poly1", "poly3", "mosmodel")  #: nine curves in one picture hide each other


def anchors(pair: PairSamples) -> pd.DataFrame:
    """R, H, M, C with 4KB, 2MB and 1GB pages only, and R relative to 4KB."""
    rows = {words: pair.at(name) for name, words in PAGE_SIZE_OF.items() if name in pair.table.frame.index}
    table = pd.DataFrame(rows).T
    table["R / R with 4KB"] = [style.percent_text(r / table["R"].iloc[0]) for r in table["R"]]
    return table


def draw_inputs(pair: PairSamples):
    """R over C, M and H: three views of the same layouts."""
    known = pair.table.fitted
    scale, unit = style.count_unit(known.R.max())
    with style.context():
        figure, axes = style.panels(1, 3, width=9, height=2.9, sharey=True)
        for panel, (symbol, (_, words)) in zip(axes, INPUTS.items(), strict=True):
            values = getattr(known, symbol)
            divisor, of = style.count_unit(values.max())
            panel.plot(values / divisor, known.R / scale, "o", color=style.BLUE, markersize=4.5)
            panel.set_xlabel(f"{symbol}, {words} ({of})")
        axes[0].set_ylabel(f"R (cycles, {unit})")
        style.headline(figure, pair.title, pair.provenance)
    return figure


def largest_errors(fit: FitResult) -> pd.DataFrame:
    """Model -> largest error: ``all`` fitted layouts, ``cv`` (NaN: anchors define the model), ``1gb``."""
    table = fit.errors.pivot(index="model", columns="protocol", values="max_error")
    table["cv"] = fit.cv[fit.cv["folds"] == fit.cv["folds"].min()].set_index("model")["max_error"]
    kept = [name for name in ("all", "cv", ALL_1GB) if name in table]
    table = table.reindex(index=[*fit.models, *fit.failures], columns=kept)
    return table.astype(float).rename_axis(index=None, columns=None)


def error_table(fit: FitResult) -> pd.DataFrame:
    """:func:`largest_errors` as a notebook shows them (shares)."""
    fitted = f"fitted layouts (effective n {fit.effective_n})"
    words = {"all": fitted, "cv": "cross validation", ALL_1GB: "1GB, never fitted"}
    return shares(largest_errors(fit).rename(columns=words))


def split_by_family(samples: Samples, families: Iterable[str]) -> tuple[Samples, Samples]:
    """(training, held out) samples by heuristic; the 4KB and 2MB runs always train, five models need them."""
    chosen = tuple(f"{family}-" for family in families)
    anchor = (ALL_4KB, ALL_2MB)
    trains = [i for i, name in enumerate(samples.layouts) if name in anchor or name.startswith(chosen)]
    rest = [i for i in range(len(samples)) if i not in set(trains)]
    return samples.subset(trains), samples.subset(rest)


def relative_error_summary(model, samples: Samples) -> dict[str, float]:
    """{"largest", "geometric mean"} relative error, empty without samples."""
    if not len(samples):
        return {}
    found = accuracy(relative_errors(samples.R, model.predict(samples.H, samples.M, samples.C)))
    return {"largest": found.max_error, "geometric mean": found.geomean_error}


def draw_fits(title: str, provenance: str, models: dict, fitted: Samples, held_out: Samples | None = None):
    """R over C: samples and what each model says at every layout; ``models`` by name, fitted.

    A model that looks at H or M too is no function of C: its predictions are points on their own.
    """
    scale, unit = style.count_unit(fitted.R.max())
    divisor, of = style.count_unit(fitted.C.max())
    everything = [fitted, *([held_out] if held_out is not None and len(held_out) else [])]
    with style.context():
        figure, axes = style.panels(width=8.4, height=4.2)
        for part, face, words in zip(
            everything, (style.INK, style.PAPER), ("fitted", "held out"), strict=False
        ):
            axes.plot(part.C / divisor, part.R / scale, "o", markerfacecolor=face, markeredgecolor=style.INK,
                      markersize=5.5, label=f"layouts, {words}", zorder=2)  # fmt: skip
        for name, model in models.items():
            label, colour, marker, dash = style.model_look(name)
            only_c = set(getattr(model, "coefficients_", {"M": 1})) <= {"1", "C", "C^2", "C^3"}
            for number, part in enumerate(everything):
                order = part.C.argsort()
                predicted = model.predict(part.H, part.M, part.C)[order]
                look = {"linestyle": dash} if only_c else {"marker": marker, "markersize": 4, "linestyle": ""}
                axes.plot(part.C[order] / divisor, predicted / scale, color=colour, zorder=3,
                          label="" if number else label, **look)  # fmt: skip
        axes.set_xlabel(f"C (walk cycles, {of})")
        axes.set_ylabel(f"R (cycles, {unit})")
        axes.legend(loc="upper left")
        style.headline(figure, title, provenance)
    return figure


def coefficient_shares(pair: PairSamples, model, layout: str = ALL_4KB) -> pd.DataFrame:
    """Each term's part of the runtime that a fitted polynomial predicts at a layout."""
    point = {symbol: value for symbol, value in pair.at(layout).items() if symbol != "R"}
    total = float(model.predict(**point))
    rows = [
        (term, coefficient, style.percent_text(float(predict_runtime({term: coefficient}, **point)) / total))
        for term, coefficient in model.coefficients_.items()
    ]
    return (
        pd.DataFrame(rows, columns=["term", "coefficient", f"share of R at {layout}"])
        .set_index("term")
        .rename_axis(None)
    )


# Training sets that a reader may choose: which layouts fit the models, which test them.

EVERY_LAYOUT, EVERY_SECOND = "every layout", "every second layout"
#: name -> heuristics that train; the 4KB and 2MB runs always do
TRAINING_SETS: dict[str, tuple[str, ...]] = {
    EVERY_LAYOUT: FAMILIES,
    EVERY_SECOND: FAMILIES,
    "growing and random": ("growing", "random"),
    "sliding windows": FAMILIES[2:],
    "all but sliding-80": FAMILIES[:-1],
    "only 4KB and 2MB": (),
}


def split_samples(samples: Samples, training: str) -> tuple[Samples, Samples]:
    """(training, held out) samples of a training set by name; TesseraError if there is none."""
    if training not in TRAINING_SETS:
        raise unknown_name("training set", training, list(TRAINING_SETS))
    trains, held_out = split_by_family(samples, TRAINING_SETS[training])
    if training == EVERY_SECOND:
        anchors = split_by_family(samples, ())[0].layouts
        rows = range(len(samples))
        chosen = [i for i in rows if i % 2 == 0 or samples.layouts[i] in anchors]
        trains, held_out = samples.subset(chosen), samples.subset([i for i in rows if i not in set(chosen)])
    return trains, held_out


def fit_on(pair: PairSamples, models: Iterable[str], families: Iterable[str], training: str):
    """Models fitted to a training set of the chosen heuristics' layouts.

    Returns:
        fitted models by name, (training, held out) samples, and a table of errors; a model that the
        training set does not determine is a row that says so.
    """
    chosen, _ = split_by_family(pair.table.fitted, families)
    trains, held_out = split_samples(chosen, training)
    fitted, rows = {}, []
    for name in models:
        try:
            fitted[name] = create(name).fit(trains)
        except CannotFit as error:
            rows.append((name, *[float("nan")] * 3, error.found))
            continue
        known, new = (
            relative_error_summary(fitted[name], trains),
            relative_error_summary(fitted[name], held_out),
        )
        far = float("nan")
        if pair.table.test is not None:
            far = relative_error_summary(fitted[name], pair.table.test)["largest"]
        enough = fitted[name].details_.get("one_in_ten", True)
        warning = "" if enough else "fewer than 10 distinct layouts a coefficient"
        rows.append((name, known["largest"], new.get("largest", float("nan")), far, warning))
    known = f"fitted ({len(trains)} layouts, effective n {trains.effective_n})"
    columns = ["model", known, f"held out ({len(held_out)})", "1GB pages", "note"]
    table = pd.DataFrame(rows, columns=columns).set_index("model").rename_axis(None)
    return fitted, (trains, held_out), pd.concat([shares(table[columns[1:4]]), table[["note"]]], axis=1)


# The menus of notebook 01: workload, platform, models, layouts, training set.
#
# Picture and table are ordinary outputs that the menus update, so a page made from the notebook shows their
# first state; only the menus need JupyterLab.


class Controls(Followed):
    """Menus and the picture and table that follow them."""

    def __init__(self, source: ResultsSource, workload: str, platform: str):
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
        return _menu_bar(self)


def controls(source: ResultsSource, workload: str = "", platform: str = "") -> None:
    """Show the menus with a pair chosen; nothing is returned, so that the cell prints nothing else."""
    Controls(source, workload, platform).show()


def _menu_bar(owner: Controls):
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
        "training": ipywidgets.Dropdown(options=list(TRAINING_SETS), description="training set", **wide),
        "models": ipywidgets.SelectMultiple(options=list(EVERY), description="models", **tall),
        "layouts": ipywidgets.SelectMultiple(options=list(FAMILIES), description="layouts", **tall),
    }
    for name, menu in menus.items():
        menu.value = owner.chosen[name]
        menu.observe(lambda change, name=name: owner.changed(name, change["new"]), names="value")
    choose = ipywidgets.VBox([menus[name] for name in ("workload", "platform", "training")])
    found = widget_bar(
        [ipywidgets.HBox([choose, menus["models"], menus["layouts"]])],
        [menu.description for menu in menus.values()],
    )
    found.menus = menus
    return found


# A model of your own beside the nine: registered for this session, judged by the same cross validation.

CROSS_VALIDATED, ANCHORED = "cross validation", "no training: two runs define it"


def register(model: type[RuntimeModel]) -> type[RuntimeModel]:
    """Make a class known by its name, for this Python process; usable as a decorator.

    A cell may be run again: a class of the notebook replaces its former self, never a model of the package.

    Raises:
        ValueError: the name belongs to a model of the package.
    """
    known = EVERY.get(model.name)
    if known is not None and known.__module__.startswith("tessera."):
        raise ValueError(f"model name '{model.name}' is taken by {known.__module__}; choose another")
    EVERY[model.name] = model
    return model


def judge_models(pair: PairSamples, names=(), folds: int = 6, seed: int = 0) -> pd.DataFrame:
    """Errors on layouts that a model has not been fitted to, best first.

    Trained models: ``folds``-fold cross validation, duplicates in one fold; `effective n` is the number of
    distinct (H, M, C) rows. Models that the 4KB and 2MB runs define train on nothing else, so
    their errors on all layouts are already those (but for the anchors themselves).
    """
    samples, rows = pair.table.fitted, []
    for name in dict.fromkeys([*MODELS, *names]):
        model = create(name)
        try:
            fitted = create(name).fit(samples)
            if model.cross_validated:
                errors, how = held_out_errors(model, samples, folds, seed), CROSS_VALIDATED
            else:
                predicted = fitted.predict(samples.H, samples.M, samples.C)
                errors, how = relative_errors(samples.R, predicted), ANCHORED
        except CannotFit as error:
            rows.append((name, float("nan"), float("nan"), "", samples.effective_n, error.found))
            continue
        found = accuracy(errors)
        rows.append((name, found.max_error, found.geomean_error, fitted.size(), samples.effective_n, how))
    columns = ["model", "largest error", "geometric mean", "coefficients", "effective n", "errors from"]
    table = pd.DataFrame(rows, columns=columns).set_index("model").sort_values("largest error")
    numbers = shares(table[columns[1:3]])
    return pd.concat([numbers, table[columns[3:]]], axis=1).rename_axis(None)
