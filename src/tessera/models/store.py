"""A fit on disk: the tables as CSV and `fit.json`, from which any model predicts again.

Numbers are written with as many digits as bring the same double back, so a prediction from
`fit.json` or from `coefficients.csv` equals that in `predictions.csv` to the last bit.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import tessera
from tessera.errors import TesseraError, unknown_name
from tessera.models.fitting import COLUMNS, FitResult
from tessera.models.registry import MODELS
from tessera.models.terms import INPUT_COLUMNS, TERMS, evaluate

FORMAT = 1  #: of fit.json
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn")


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """CSV with shortest round-trip floats; empty cells for missing values."""
    frame.to_csv(path, index=False, lineterminator="\n")  # pandas writes repr floats


def write(result: FitResult, out: str | Path, samples: str | Path | None = None) -> Path:
    """Write the tables and `fit.json` into ``out``; ``samples`` is the file to hash as input."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for name in COLUMNS:
        write_table(getattr(result, name), out / f"{name}.csv")
    document = {
        "format": FORMAT,
        "samples": result.samples,
        "folds": list(result.folds),
        "seed": result.seed,
        "notes": result.notes,
        "ranges": {symbol: list(extent) for symbol, extent in result.ranges.items()},
        "models": {
            name: {
                "equation": model.equation,
                "parameters": model.get_params(),
                "coefficients": model.coefficients_,
                "details": model.details_,
            }
            for name, model in result.models.items()
        },
        "failures": result.failures,
        "versions": {
            "tessera": tessera.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
        "inputs": {Path(samples).name: _sha256(Path(samples))} if samples else {},
        "outputs": {f"{name}.csv": _sha256(out / f"{name}.csv") for name in COLUMNS},
    }
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    (out / "fit.json").write_text(text, encoding="utf-8")
    return out


@dataclass(frozen=True)
class StoredFit:
    """What `fit.json` says; ``path`` is for error messages."""

    path: Path
    coefficients: dict[str, dict[str, float]]
    failures: dict[str, str]
    ranges: dict[str, tuple[float, float]]

    def of(self, model: str) -> dict[str, float]:
        """Coefficients of a fitted model; TesseraError if unknown, or if it could not be fitted."""
        if model in self.coefficients:
            return self.coefficients[model]
        if model in self.failures:
            raise TesseraError(
                f"model '{model}' of {self.path}",
                f"could not be fitted: {self.failures[model]}",
                f"use one of: {', '.join(self.coefficients)}",
            )
        if model in MODELS:
            raise TesseraError(
                f"model '{model}' of {self.path}",
                f"this fit has only {', '.join(self.coefficients)}",
                "fit it: tessera models fit --model " + model,
            )
        raise unknown_name("model", model, list(MODELS))

    def predict(self, model: str, *, H, M, C) -> np.ndarray:
        """Runtime in cycles; H, M counts, C walk cycles."""
        return evaluate(self.of(model), H, M, C)

    def outside(self, *, H: float, M: float, C: float) -> list[str]:
        """The inputs that lie outside the range of the fitted samples (an extrapolation)."""
        point = {"H": H, "M": M, "C": C}
        return [
            f"{INPUT_COLUMNS[symbol]} = {point[symbol]:.6g} is outside {low:.6g} to {high:.6g}"
            for symbol, (low, high) in self.ranges.items()
            if not low <= point[symbol] <= high
        ]


def read(folder: str | Path) -> StoredFit:
    """Read `fit.json` of a folder (or the file itself)."""
    path = Path(folder)
    path = path / "fit.json" if path.is_dir() else path
    if not path.is_file():
        raise TesseraError(
            f"fit {folder}", "no fit.json there", "make one: tessera models fit --out " + str(folder)
        )
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise TesseraError(
                f"fit {path}", f"format {document['format']}, this version reads {FORMAT}", "fit again"
            )
        coefficients = {name: model["coefficients"] for name, model in document["models"].items()}
        unknown = {t for model in coefficients.values() for t in model} - set(TERMS)
        if unknown:
            raise ValueError(f"terms {sorted(unknown)}")
        ranges = {symbol: tuple(extent) for symbol, extent in document["ranges"].items()}
        return StoredFit(path, coefficients, document["failures"], ranges)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TesseraError(
            f"fit {path}", f"damaged: {type(error).__name__} {error}", "fit again"
        ) from error


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
