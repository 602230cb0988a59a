"""Debian's ``liblinear-train``, unmodified: a linear classifier with many features.

It trains an L2-regularised support vector machine with squared hinge loss in its primal form (``-s 2``),
with the trust region method of Lin, Weng and Keerthi (JMLR 9, 2008): this solver guarantees a bound on the
gradient, which the verifier checks. A size's args are ``--rows --features --seed``,
``--tolerance-percent`` (``-e``) and ``--skip``: the number of data accesses (reading the text) before the
recorded part.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.debian_programs import input_counts
from tessera.record.debian_programs.random_numbers import mix64
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import WORKLOADS, Finished, ProgramRun

DATA, MODEL = "clicks.txt", "clicks.model"
_DEFAULTS = {"rows": 10000, "features": 110000, "seed": 1, "tolerance-percent": 1, "skip": 0}
_COST = 1.0  #: LIBLINEAR's default C
_HEADER_LINES = 6  #: of a model file; the weights follow, one a line


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """Write the data set into ``folder``; the run writes the model there."""
    owner = f"{workload.name}, size {size.label}"
    least = {"rows": 1, "features": FIELDS, "tolerance-percent": 1}
    chosen = input_counts(owner, size.args, _DEFAULTS, least)
    clicks = Clicks(chosen["rows"], chosen["features"], chosen["seed"])
    data, model = folder / DATA, folder / MODEL
    clicks.write(data)
    model.unlink(missing_ok=True)
    tolerance = chosen["tolerance-percent"] / 100
    options = ("-s", "2", "-c", f"{_COST:g}", "-e", f"{tolerance:g}")
    return ProgramRun(
        argv=(workload.executable, *options, str(data), str(model)),
        paths=(folder,),
        folder=folder,
        image=WORKLOADS,
        roi=f"skip:{chosen['skip']}" if chosen["skip"] else "auto",
        verify=lambda done: _verified(workload.name, clicks, tolerance, done),
    )


def _verified(name: str, clicks: Clicks, tolerance: float, done: Finished) -> dict:
    """The gradient at the trained weights, recomputed from the data, against the solver's promise."""
    path = done.folder / MODEL
    if not path.exists():
        raise _wrong(name, f"it wrote no {MODEL}: {done.stderr.strip()[-300:]}")
    weights = read_model(path)
    features, labels = clicks.part(0, clicks.rows)
    if len(weights) > clicks.features or len(weights) <= features.max():
        raise _wrong(name, f"the model has {len(weights)} features, the data {features.max() + 1}")
    rarer = min((labels > 0).sum(), (labels < 0).sum())
    allowed = tolerance * max(int(rarer), 1) / clicks.rows
    found = gradient_norm(weights, features, labels) / gradient_norm(0 * weights, features, labels)
    if not found <= allowed * (1 + 1e-6):
        raise _wrong(name, f"its gradient is {found:.3g} of the first one, {allowed:.3g} was asked for")
    right = float(np.mean((weights[features].sum(axis=1) > 0) == (labels > 0)))
    return {
        "workload": name,
        "rows": clicks.rows,
        "features": clicks.features,
        "training_accuracy": right,
        "relative_gradient": found,
        "checksum": f"{float(weights @ weights):.9g}",
        "verified": True,
    }


def gradient_norm(
    weights: NDArray[np.float64], features: NDArray[np.int64], labels: NDArray[np.int64]
) -> float:
    """Norm of the gradient of w.w / 2 + C sum max(0, 1 - y w.x)^2, where x has ones at ``features``."""
    margin = labels * weights[features].sum(axis=1)
    slack = np.where(margin < 1, (margin - 1) * labels, 0)
    loss = np.bincount(features.ravel(), np.repeat(slack, FIELDS), len(weights))
    return float(np.linalg.norm(weights + 2 * _COST * loss))


def read_model(path: Path) -> NDArray[np.float64]:
    """Weights of a model file of two classes, for label 1 as the positive one.

    Raises:
        TesseraError: another kind of model, or not as many weights as it says.
    """
    lines = path.read_text().splitlines()
    header = dict(line.split(" ", 1) for line in lines[:_HEADER_LINES] if " " in line)
    weights = np.array(lines[_HEADER_LINES:], dtype=np.float64)
    labels = header.get("label", "").split()
    if sorted(labels) != ["-1", "1"] or len(weights) != int(header.get("nr_feature", -1)):
        raise _wrong(path.name, f"header {header}, {len(weights)} weights")
    return weights if labels[0] == "1" else -weights


def _wrong(name: str, found: str) -> TesseraError:
    remedy = f"run it alone: tessera workload run {name}; a trace of a wrong run is not kept"
    return TesseraError("result of liblinear-train", found, remedy, exit_code=EXIT_FAILED)


# The data set: clicks on advertisements, with the structure of kdd12.
#
# kdd12 (KDD Cup 2012, track 2, as LIBSVM's data page gives it) has 54,686,452 binary features in 149,639,105
# rows of about 11: categories (user, query, advertisement, ...) in one-hot form. Here a row has one feature
# of each of 11 fields; few values of a field are frequent and most are rare, and a value's place in its
# field is arbitrary. The label depends on hidden weights of the values, with noise, so that the classifier
# can learn it. All values are computed from the seed in integers, so they are the same on every machine.

FIELDS = 11
_ROWS_A_PIECE = 100_000
_NOISE_PERCENT = 10


@dataclass(frozen=True)
class Clicks:
    """``rows`` examples over ``features`` binary features (at least one a field)."""

    rows: int
    features: int
    seed: int

    def part(self, start: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Features of these rows, from 0 and ascending, (end - start, 11), and their labels, -1 or 1."""
        row = np.arange(start, end, dtype=np.uint64)[:, None]
        field = np.arange(FIELDS, dtype=np.uint64)[None, :]
        size = self.features // FIELDS
        drawn = mix64(self.seed, row * np.uint64(FIELDS) + field) >> np.uint64(40)
        cubed = (drawn * drawn >> np.uint64(24)) * drawn >> np.uint64(24)  # 24 bits; small ones frequent
        value = cubed * np.uint64(size) >> np.uint64(24)
        features = field * np.uint64(size) + value * np.uint64(2654435761) % np.uint64(size)
        weight = (mix64(~self.seed & (2**63 - 1), features) >> np.uint64(48)).astype(np.int64) - 32768
        label = np.where(weight.sum(axis=1) > 0, 1, -1)
        noise = mix64(self.seed ^ 0x5EED, row[:, 0]) % np.uint64(100) < _NOISE_PERCENT
        return features.astype(np.int64), np.where(noise, -label, label)

    def write(self, path: Path) -> None:
        """The rows as LIBSVM's text: ``+1 5:1 17:1 ...``, features counted from 1."""
        form = "%+d" + " %d:1" * FIELDS + "\n"
        with path.open("w") as out:
            for start in range(0, self.rows, _ROWS_A_PIECE):
                features, labels = self.part(start, min(start + _ROWS_A_PIECE, self.rows))
                table = np.column_stack([labels, features + 1]).tolist()
                out.writelines(form % tuple(row) for row in table)
