"""A fit read back from its folder: any model of `fit.json` predicts again.

The same coefficients go through the same evaluator, so a prediction from `fit.json` (or from
`coefficients.csv`) equals that in `predictions.csv` to the last bit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.errors import TesseraError, unknown_name
from tessera.models.registry import MODELS
from tessera.models.result import FORMAT
from tessera.models.terms import INPUT_COLUMNS, TERMS, evaluate


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
        raise TesseraError(f"fit {path}", f"damaged: {type(error).__name__} {error}", "fit again") from error
