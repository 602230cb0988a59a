"""The result of fitting: five tables, the fitted models, and the folder they are written to."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import pandas as pd

import tessera
from tessera.core.files import write_text
from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.intervals import Calibration
from tessera.fit.models.samples import Table
from tessera.results.schema.models import OF_PAIR
from tessera.results.write import write

FORMAT = 1  #: of fit.json
INTERVALS = "intervals.json"  #: beside fit.json, only if intervals were asked for
#: The tables of a fit; more lie beside them on request (:mod:`tessera.results.schema.models`).
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
    table: Table
    folds: tuple[int, ...]
    seed: int
    notes: list[str] = field(default_factory=list)
    calibrations: dict[str, Calibration] = field(default_factory=dict)

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
            write(OF_PAIR[name], getattr(self, name), out / OF_PAIR[name].file)
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


def kept(table: Table) -> dict:
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
