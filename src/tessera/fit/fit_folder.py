"""The folder of a fit: its tables and models, written, and read back so that the models predict again."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import tessera
from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import write_text
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.core.results.table_io import write_table
from tessera.fit.evaluation.intervals import UnseenErrors
from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.registry import EVERY
from tessera.fit.models.samples import COLUMNS, SamplesTable, check_samples
from tessera.fit.models.terms import TERMS

FORMAT = 1  #: of fit.json
INTERVALS = "intervals.json"  #: beside fit.json, only if intervals were asked for
#: The tables of a fit; more lie beside them on request (:mod:`tessera.core.results.cell_tables`).
TABLES = ("coefficients", "predictions", "errors", "cv", "rsquared")
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn")


@dataclass(frozen=True)
class FitResult:
    """The five tables of :data:`TABLES` and what `fit.json` keeps beside them.

    ``models`` holds the fitted estimators; ``failures`` {model: message} those that could not be;
    ``ranges`` {input: (least, greatest)} the fitted samples' extent in raw units; ``table`` the samples;
    ``notes`` the rows that were left out; ``calibrations`` what prediction intervals need (empty unless
    asked for).
    """

    coefficients: pd.DataFrame
    predictions: pd.DataFrame
    errors: pd.DataFrame
    cv: pd.DataFrame
    rsquared: pd.DataFrame
    models: dict[str, RuntimeModel]
    failures: dict[str, str]
    ranges: dict[str, tuple[float, float]]
    table: SamplesTable
    folds: tuple[int, ...]
    seed: int
    notes: list[str] = field(default_factory=list)
    calibrations: dict[str, UnseenErrors] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        """Number of fitted layouts."""
        return len(self.table.fitted)

    @property
    def effective_n(self) -> int:
        """Distinct (H, M, C) rows among them."""
        return self.table.fitted.effective_n

    def write(self, out: str | Path, samples: str | Path | None = None) -> Path:
        """Write the tables and `fit.json` into ``out``; ``samples`` is the input file to hash."""
        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        for name in TABLES:
            write_table(MODELS_OF_PAIR[name], getattr(self, name), out / MODELS_OF_PAIR[name].file)
        (out / INTERVALS).unlink(missing_ok=True)
        outputs = [f"{name}.csv" for name in TABLES]
        if self.calibrations:
            write_text(out / INTERVALS, json.dumps(self._intervals(), allow_nan=False) + "\n")
            outputs.append(INTERVALS)
        document = self._document() | {
            "inputs": {Path(samples).name: _sha256(Path(samples))} if samples else {},
            "outputs": {name: _sha256(out / name) for name in outputs},
        }
        text = json.dumps(document, indent=2, allow_nan=False) + "\n"
        write_text(out / "fit.json", text)
        return out

    def _document(self) -> dict:
        return {
            "format": FORMAT,
            "samples": self.samples,
            "effective_n": self.effective_n,
            "folds": list(self.folds),
            "seed": self.seed,
            "notes": self.notes,
            "ranges": {symbol: list(extent) for symbol, extent in self.ranges.items()},
            "models": {
                name: {"equation": model.equation, "parameters": model.get_params(), **learned(model)}
                for name, model in self.models.items()
            },
            "failures": self.failures,
            "data": kept(self.table),
            "versions": {
                "tessera": tessera.__version__,
                "python": platform.python_version(),
                **{name: version(name) for name in LIBRARIES},
            },
        }

    def _intervals(self) -> dict:
        return {
            "format": FORMAT,
            "models": {
                name: {
                    "method": calibration.method,
                    "message": calibration.message,
                    "residuals_cycles": calibration.residuals.tolist(),
                    "others": [learned(other) for other in calibration.others],
                }
                for name, calibration in self.calibrations.items()
            },
        }


def kept(table: SamplesTable) -> dict:
    """The samples as `fit.json` keeps them: what `tessera predict --fit` asks about is P itself."""
    found = table.fitted
    columns = {name: getattr(found, name).tolist() for name in ("H", "M", "C", "R")}
    one = {
        name: str(table.frame[name].iloc[0]) if name in table.frame.columns and len(table.frame) else ""
        for name in ("workload", "platform")
    }
    return {"layouts": list(found.layouts), **columns, **one, "runtime_provenance": table.runtime_provenance}


def learned(model: RuntimeModel) -> dict:
    """What a fitted model has learned, as `RuntimeModel.restore` reads it."""
    entry = {"coefficients": getattr(model, "coefficients_", {}), "details": model.details_}
    return entry | ({"state": model.state()} if model.state() else {})


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# A fit that is read back: any model of `fit.json` predicts again.
#
# The same function evaluates the same coefficients, so a prediction from `fit.json` (or from
# `coefficients.csv`) equals that in `predictions.csv` to the last bit.


@dataclass(frozen=True)
class StoredFit:
    """What `fit.json` says; ``path`` is for error messages."""

    path: Path
    models: dict[str, RuntimeModel]
    failures: dict[str, str]
    notes: tuple[str, ...] = ()  #: what was said of the samples
    data: dict | None = None  #: the samples, as :func:`kept` gives them

    @property
    def table(self) -> SamplesTable:
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
        return replace(check_samples(frame, f"samples of {self.path}"), notes=list(self.notes))

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

    def calibration(self, model: str) -> UnseenErrors:
        """What intervals need; with a message instead, if the fit has none."""
        path = self.path.parent / INTERVALS
        if not path.is_file():
            reason = f"no {INTERVALS} beside {self.path.name}: fit with tessera models fit"
            return UnseenErrors("none", np.empty(0), message=reason)
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))["models"][self.model(model).name]
            others = [_restored(model, {"parameters": {}} | other) for other in entry["others"]]
            return UnseenErrors(
                entry["method"], np.array(entry["residuals_cycles"]), others, entry["message"]
            )
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
        self.name = name  # type: ignore[misc]  # it stands for any class
