"""Training sets that a reader may choose: which layouts fit the models, which test them."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from tessera.core.errors import unknown_name
from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples
from tessera.show.explore.fits import FAMILIES, judged, split_by_family
from tessera.show.explore.look import shares
from tessera.show.explore.source import Pair

EVERY_LAYOUT, EVERY_SECOND = "every layout", "every second layout"
#: name -> heuristics that train; the 4KB and 2MB runs always do
SETS: dict[str, tuple[str, ...]] = {
    EVERY_LAYOUT: FAMILIES,
    EVERY_SECOND: FAMILIES,
    "growing and random": ("growing", "random"),
    "sliding windows": FAMILIES[2:],
    "all but sliding-80": FAMILIES[:-1],
    "only 4KB and 2MB": (),
}


def split(samples: Samples, training: str) -> tuple[Samples, Samples]:
    """(training, held out) samples of a training set by name; TesseraError if there is none."""
    if training not in SETS:
        raise unknown_name("training set", training, list(SETS))
    trains, held_out = split_by_family(samples, SETS[training])
    if training == EVERY_SECOND:
        anchors = split_by_family(samples, ())[0].layouts
        rows = range(len(samples))
        chosen = [i for i in rows if i % 2 == 0 or samples.layouts[i] in anchors]
        trains, held_out = samples.subset(chosen), samples.subset([i for i in rows if i not in set(chosen)])
    return trains, held_out


def fit_on(pair: Pair, models: Iterable[str], families: Iterable[str], training: str):
    """Models fitted to a training set of the chosen heuristics' layouts.

    Returns:
        fitted models by name, (training, held out) samples, and a table of errors; a model that the
        training set does not determine is a row that says so.
    """
    chosen, _ = split_by_family(pair.table.fitted, families)
    trains, held_out = split(chosen, training)
    fitted, rows = {}, []
    for name in models:
        try:
            fitted[name] = create(name).fit(trains)
        except CannotFit as error:
            rows.append((name, *[float("nan")] * 3, error.found))
            continue
        known, new = judged(fitted[name], trains), judged(fitted[name], held_out)
        far = float("nan")
        if pair.table.test is not None:
            far = judged(fitted[name], pair.table.test)["largest"]
        enough = fitted[name].details_.get("one_in_ten", True)
        warning = "" if enough else "fewer than 10 distinct layouts a coefficient"
        rows.append((name, known["largest"], new.get("largest", float("nan")), far, warning))
    known = f"fitted ({len(trains)} layouts, effective n {trains.effective_n})"
    columns = ["model", known, f"held out ({len(held_out)})", "1GB pages", "note"]
    table = pd.DataFrame(rows, columns=columns).set_index("model").rename_axis(None)
    return fitted, (trains, held_out), pd.concat([shares(table[columns[1:4]]), table[["note"]]], axis=1)
