"""Where the error of a prediction comes from: model, simulator, sampling, noise, each with its provenance.

A part is a 95% half-width as a share of the prediction. An unmeasured part is unknown: it is empty,
with a message that names the missing input. It is never zero.

- **model**: half the prediction interval (`tessera.fit.evaluation.intervals`). Errors on unseen layouts hold
  the sampling error of those layouts too, so this part and *sampling* overlap a little.
- **simulator**: largest |dR simulated - dR measured| / (1 + dR measured) over the layouts with real runs
  on the platform of the samples (`validation/mosaics.csv`).
- **sampling**: `runtime_cycles_ci95` and `walk_cycles_ci95` of the samples and `walk_cycles_ci95` of the
  design, propagated through the fit: ``DRAWS`` refits to perturbed samples, normal errors, independent
  between and within layouts (cells do not record correlations; the real ones are positive, which for a
  growing curve makes this an upper bound), from a pinned seed.
- **noise**: the difference of repeated runs of one layout, pooled over layouts: t(0.975) times the standard
  deviation of one run. A repeated simulation gives equal numbers, so it cannot show how recordings differ.

`total` is the root of the sum of squares of the known parts; with unknown parts it is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import canonical_name
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.core.results.machine_tables import MOSAICS
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import frame_of, read_file
from tessera.core.table_columns import floats, is_missing, number_column
from tessera.core.table_file import read_table
from tessera.fit.evaluation.intervals import LEVEL
from tessera.fit.models.base import CannotFit
from tessera.fit.models.samples import Samples, require_one_pair
from tessera.fit.predict.prediction import DesignCounts, FittedModel

DRAWS = 200
SEED = 0
_CLOCKS = ("runtime_cycles", "runtime_ns")
_REPEATS = ("layout", *_CLOCKS, "runtime_provenance", "status", "workload", "platform")
PARTS = ("model", "simulator", "sampling", "noise", "total")
NORMAL_95 = 1.959963984540054  #: half-width of 95% in standard deviations
#: (share per design, NaN if unknown; provenance; message of all, or one per design)
Part = tuple[np.ndarray, str, str | list[str]]


def error_budget(
    fitted: FittedModel,
    design: DesignCounts,
    *,
    mosaics: str | Path | None = None,
    repeats: str | Path | None = None,
    seed: int = SEED,
) -> pd.DataFrame:
    """One row per design and part (columns as `budget.csv`).

    Args:
        mosaics: `validation/mosaics.csv`: real runs under mosaics beside simulated ones.
        repeats: a CSV with `layout` and `runtime_cycles` or `runtime_ns`, several rows per layout, of one
            workload and platform.
    """
    centre = np.abs(fitted.model.predict(design.H, design.M, design.C))
    parts: dict[str, Part] = {
        "model": _model(fitted, design, centre),
        "simulator": _simulator(fitted, len(design), mosaics),
        "sampling": _sampling(fitted, design, centre, seed),
        "noise": _noise(fitted, len(design), repeats),
    }
    parts["total"] = _total(parts)
    rows = [
        (name, fitted.model.name, part, shares[i] * centre[i], shares[i], provenance, _of(message, i))
        for i, name in enumerate(design.names)
        for part, (shares, provenance, message) in parts.items()
    ]
    return frame_of(MODELS_OF_PAIR["budget"], rows)


def _of(message: str | list[str], i: int) -> str:
    return message if isinstance(message, str) else message[i]


def _model(fitted: FittedModel, design: DesignCounts, centre: np.ndarray) -> Part:
    interval = fitted.interval(design, LEVEL)
    shares = (interval.high - interval.low) / 2 / centre
    return shares, fitted.table.runtime_provenance, interval.message or f"{interval.method}, {LEVEL:.0%}"


def _simulator(fitted: FittedModel, n: int, mosaics: str | Path | None) -> Part:
    unknown = np.full(n, np.nan)
    if fitted.table.runtime_provenance == "measured":
        return (
            unknown,
            "",
            "unknown: the samples are measured; the simulated H, M, C of the design are unchecked",
        )
    if mosaics is None:
        return unknown, "", "unknown: no real runs are given (tessera lab run mosaics writes mosaics.csv)"
    frame = read_file(MOSAICS, Path(mosaics), f"error budget: {mosaics}")
    frame = frame.dropna(subset=["measured_delta", "simulated_delta"])
    platform = _platform(fitted)
    mine = frame[(frame["platform"] == platform) & (frame["simulated_delta"] != 0)]
    if mine.empty:
        known = ", ".join(sorted(set(frame["platform"].astype(str)))) or "none"
        return (
            unknown,
            "",
            f"unknown: no real runs on {platform or 'this platform'} (some on: {known})",
        )
    errors = (mine["simulated_delta"] - mine["measured_delta"]).abs() / (1 + mine["measured_delta"])
    message = f"the largest error of {len(mine)} layouts with real runs on {platform}"
    return np.full(n, float(errors.max())), "measured", message


def _platform(fitted: FittedModel) -> str:
    frame = fitted.table.frame
    return str(frame["platform"].iloc[0]) if "platform" in frame.columns and len(frame) else ""


def _sampling(fitted: FittedModel, design: DesignCounts, centre: np.ndarray, seed: int) -> Part:
    widths = _ci95(fitted)
    if widths is None:
        return (
            np.full(len(design), np.nan),
            "",
            "unknown: the samples lack runtime_cycles_ci95 or walk_cycles_ci95",
        )
    known = ~np.isnan(design.C_ci95)
    own = np.where(known, design.C_ci95, 0.0)
    stream = np.random.RandomState(seed)  # its stream is frozen
    predictions = []
    for samples in _perturbed(fitted.table.fitted, widths, stream):
        walks = np.maximum(design.C + own / NORMAL_95 * stream.standard_normal(len(design)), 0.0)
        try:
            predictions.append(fitted.model.refit(samples).predict(design.H, design.M, walks))
        except CannotFit as error:
            return (
                np.full(len(design), np.nan),
                "",
                f"unknown: a fit to changed samples fails: {error.found}",
            )
    low, high = np.percentile(np.stack(predictions), [2.5, 97.5], axis=0)
    message = f"{DRAWS} fits to randomly changed samples"
    lacking = f"{message}; the design lacks walk_cycles_ci95, so its walk cycles are taken as exact"
    messages = [message if has else lacking for has in known]
    return (high - low) / 2 / centre, fitted.table.runtime_provenance, messages


def _perturbed(samples: Samples, widths: dict, stream) -> Iterator[Samples]:
    for _ in range(DRAWS):
        moved = {
            symbol: getattr(samples, symbol)
            + widths[symbol] / NORMAL_95 * stream.standard_normal(len(samples))
            for symbol in ("C", "R")
        }
        runtime = np.maximum(moved["R"], 0.01 * samples.R)  # a runtime stays positive
        yield Samples(samples.layouts, samples.H, samples.M, np.maximum(moved["C"], 0.0), runtime)


def _ci95(fitted: FittedModel) -> dict[str, np.ndarray] | None:
    """Half-widths in cycles per fitted sample, None unless every sample has both."""
    frame, found = fitted.table.frame, {}
    for symbol, column in (("R", "runtime_cycles_ci95"), ("C", "walk_cycles_ci95")):
        if column not in frame.columns:
            return None
        values = pd.Series(floats(frame[column]), index=frame.index).reindex(
            list(fitted.table.fitted.layouts)
        )
        if values.isna().any() or (values < 0).any():
            return None
        found[symbol] = values.to_numpy(dtype=float)
    return found


def _noise(fitted: FittedModel, n: int, repeats: str | Path | None) -> Part:
    unknown = np.full(n, np.nan)
    if repeats is None:
        if fitted.table.runtime_provenance == "simulated":
            why = "a repeated simulation gives equal numbers; to see differences, record the workload again"
        else:
            why = "no repeated runs are given"
        return unknown, "", f"unknown: {why}"
    owner = f"error budget: {repeats}"
    frame = ok_rows(read_table(repeats, owner, _REPEATS, _CLOCKS).frame)
    if "layout" not in frame:
        found = ", ".join(frame)
        raise TesseraError(
            f"repeats {repeats}: column layout", f"found {found}", "see docs/howto/fit-models.md"
        )
    require_one_pair(frame, owner)
    column = next((c for c in _CLOCKS if c in frame and not frame[c].map(is_missing).all()), None)
    if column is None:
        raise TesseraError(
            f"repeats {repeats}",
            "it has neither runtime_cycles nor runtime_ns",
            "give one of them for each run",
        )
    layouts = frame["layout"].map(canonical_name)
    runtimes = number_column(frame, column, owner, layouts, above=True, may_lack=True)
    logs = pd.Series(np.log(runtimes), index=frame.index).groupby(layouts)
    freedom = int((logs.count() - 1).clip(lower=0).sum())
    if freedom < 1:
        return unknown, "", "unknown: no layout has two runs"
    from scipy.special import stdtrit

    squares = float(((logs.count() - 1) * logs.var(ddof=1)).dropna().sum())
    share = float(stdtrit(freedom, 0.975)) * np.sqrt(squares / freedom)
    own = sorted(set(frame["runtime_provenance"])) if "runtime_provenance" in frame.columns else []
    if not own and column == "runtime_ns":
        own = ["measured"]  # clock time is never simulated (docs/contracts.md)
    message = f"one run against another, {freedom} degrees of freedom, from {column}"
    return np.full(n, share), own[0] if len(own) == 1 else "", message


def _total(parts: dict[str, Part]) -> Part:
    shares = np.stack([part[0] for part in parts.values()])
    unknown = [name for name, part in parts.items() if np.isnan(part[0]).any()]
    provenances = sorted({part[1] for part in parts.values() if part[1] and not np.isnan(part[0]).all()})
    total = np.where(np.isnan(shares).all(axis=0), np.nan, np.sqrt(np.nansum(shares**2, axis=0)))
    message = f"a lower bound: {', '.join(unknown)} unknown" if unknown else "root of the sum of squares"
    return total, "+".join(provenances), message
