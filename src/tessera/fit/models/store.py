"""A fit read back from its folder: any model of `fit.json` predicts again.

The same function evaluates the same coefficients, so a prediction from `fit.json` (or from
`coefficients.csv`) equals that in `predictions.csv` to the last bit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError, unknown_name
from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.intervals import Calibration
from tessera.fit.models.registry import EVERY
from tessera.fit.models.result import FORMAT, INTERVALS
from tessera.fit.models.samples import COLUMNS, Table, check_table
from tessera.fit.models.terms import TERMS


@dataclass(frozen=True)
class StoredFit:
    """What `fit.json` says; ``path`` is for error messages."""

    path: Path
    models: dict[str, RuntimeModel]
    failures: dict[str, str]
    notes: tuple[str, ...] = ()  #: what was said of the samples
    data: dict | None = None  #: the samples, as :func:`tessera.fit.models.result.kept` gives them

    @property
    def table(self) -> Table:
        """The samples that the models were fitted to.

        Raises:
            TesseraError: an older version wrote the fit, which kept none.
        """
        if self.data is None:
            raise TesseraError(
                f"samples of {self.path}", "an older version of Tessera wrote this fit, without its samples",
                "fit again: tessera models fit", code="fit-without-samples",
            )  # fmt: skip
        names = ("workload", "platform", "runtime_provenance")
        try:
            columns = {column: self.data[symbol] for symbol, column in COLUMNS.items()}
            frame = pd.DataFrame({"layout": self.data["layouts"], **columns})
            frame = frame.assign(**{name: self.data[name] for name in names if self.data[name]})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _damaged(self.path, error) from error
        return replace(check_table(frame, f"samples of {self.path}"), notes=list(self.notes))

    @property
    def coefficients(self) -> dict[str, dict[str, float]]:
        """{model: {term: coefficient}}; {} for a model that is no polynomial."""
        return {name: getattr(model, "coefficients_", {}) for name, model in self.models.items()}

    def of(self, model: str) -> dict[str, float]:
        """Coefficients of a fitted model; errors as :meth:`model`."""
        return getattr(self.model(model), "coefficients_", {})

    def model(self, model: str) -> RuntimeModel:
        """A fitted model; TesseraError if unknown, or if it could not be fitted."""
        if model in self.models:
            return self.models[model]
        if model in self.failures:
            raise TesseraError(
                f"model '{model}' of {self.path}",
                f"could not be fitted: {self.failures[model]}",
                f"use one of: {', '.join(self.models)}",
            )
        if model in EVERY:
            raise TesseraError(
                f"model '{model}' of {self.path}",
                f"this file contains only {', '.join(self.models)}",
                "fit it: tessera models fit --model " + model,
            )
        raise unknown_name("model", model, list(EVERY))

    def calibration(self, model: str) -> Calibration:
        """What intervals need; with a message instead, if the fit has none."""
        path = self.path.parent / INTERVALS
        if not path.is_file():
            reason = f"no {INTERVALS} beside {self.path.name}: fit with tessera models fit"
            return Calibration("none", np.empty(0), message=reason)
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))["models"][self.model(model).name]
            others = [_restored(model, {"parameters": {}} | other) for other in entry["others"]]
            return Calibration(entry["method"], np.array(entry["residuals_cycles"]), others, entry["message"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _damaged(path, error) from error


def read_fit(folder: str | Path) -> StoredFit:
    """Read `fit.json` of a folder (or the file itself)."""
    path = Path(folder)
    path = path / "fit.json" if path.is_dir() else path
    if not path.is_file():
        raise TesseraError(
            f"fit {folder}", "fit.json does not exist", "create it: tessera models fit --out " + str(folder)
        )
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise TesseraError(
                f"fit {path}",
                f"it has format {document['format']}; this version reads {FORMAT}",
                "fit again",
            )
        models = {name: _restored(name, entry) for name, entry in document["models"].items()}
        unknown = {t for m in models.values() for t in getattr(m, "coefficients_", {})} - set(TERMS)
        if unknown:
            raise ValueError(f"terms {sorted(unknown)}")
        notes = tuple(document["notes"])
        return StoredFit(path, models, document["failures"], notes, document.get("data"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> TesseraError:
    return TesseraError(f"fit {path}", f"damaged: {type(error).__name__} {error}", "fit again")


def _restored(name: str, entry: dict) -> RuntimeModel:
    model = EVERY[name](**entry["parameters"]) if name in EVERY else _Unregistered(name)
    return model.restore(entry)


class _Unregistered(RuntimeModel):
    """A model of a fit made by a program that registered one of its own: its polynomial is enough."""

    equation = source = "not registered here"

    def __init__(self, name: str):
        self.name = name
