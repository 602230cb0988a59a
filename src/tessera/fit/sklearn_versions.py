"""Check that Mosmodel, ours and its authors', is the same model under several scikit-learn versions.

Ours calls no function of scikit-learn; the selection of `mosmodel-authors` is scikit-learn's own.

uv makes a separate environment for each version from the package index: that scikit-learn, and numpy, scipy
and pandas in the versions used here. In it, this package fits the same samples. Equal means the same terms,
and coefficients within :data:`TOLERANCE` of each other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.fit.models.samples import read_samples

VERSIONS = ("1.5.2", "1.7.2", "1.9.1")
COMPARED = ("mosmodel", "mosmodel-authors")
TOLERANCE = 1e-10  #: relative difference of coefficients
HELD = ("numpy", "scipy", "pandas")  #: the same in every environment

_FIT = """
import json, sys, sklearn
from tessera.fit.models.registry import create
from tessera.fit.models.samples import read_samples
models, paths = sys.argv[1].split(), sys.argv[2:]
samples = [read_samples(path).fitted for path in paths]
found = [create(model).fit(each).coefficients_ for each in samples for model in models]
json.dump({"version": sklearn.__version__, "coefficients": found}, sys.stdout)
"""


@dataclass(frozen=True)
class VersionDifference:
    """``terms`` per version, and the largest relative difference of a coefficient.

    ``samples`` names the file and the model. ``difference`` is infinite if the terms differ.
    """

    samples: str
    terms: dict[str, tuple[str, ...]]
    difference: float

    @property
    def equal(self) -> bool:
        return self.difference <= TOLERANCE


def compare_versions(
    samples: Sequence[str | Path], versions: Sequence[str] = VERSIONS
) -> list[VersionDifference]:
    """The models of every samples file under every version, one comparison per file and model.

    Raises:
        TesseraError: a file is no table of samples; an environment cannot be made (no network, no such
            version), or a fit in it fails.
    """
    for path in samples:
        read_samples(path)
    paths = [Path(path).resolve() for path in samples]
    with tempfile.TemporaryDirectory(prefix="tessera-versions-") as folder:
        found = {name: fitted_with(name, paths, Path(folder) / name) for name in versions}
    asked = [f"{path} {model}" for path in samples for model in COMPARED]
    return [
        version_difference(name, {version: coefficients[i] for version, coefficients in found.items()})
        for i, name in enumerate(asked)
    ]


def version_difference(samples: str, found: dict[str, dict[str, float]]) -> VersionDifference:
    """The comparison of the coefficients {version: {term: coefficient}} of one samples file and model."""
    first, *others = found.values()
    difference = 0.0
    for other in others:
        if set(other) != set(first):
            difference = float("inf")
            break
        apart = [abs(other[term] - value) / (abs(value) or 1.0) for term, value in first.items()]
        difference = max(difference, *apart)
    return VersionDifference(samples, {name: tuple(terms) for name, terms in found.items()}, difference)


def fitted_with(wanted: str, samples: Sequence[Path], folder: Path) -> list[dict[str, float]]:
    """Coefficients per samples file and model, by scikit-learn ``wanted`` in a new environment ``folder``."""
    from uv import find_uv_bin

    uv = [find_uv_bin(), "--quiet"]
    pinned = [f"{name}=={version(name)}" for name in HELD]
    _run([*uv, "venv", "--python", sys.executable, str(folder)], wanted)
    python = folder / "bin" / "python"
    _run([*uv, "pip", "install", "--python", str(python), f"scikit-learn=={wanted}", *pinned], wanted)
    source = str(Path(__file__).parents[2])
    # -P and PYTHONPATH alone: nothing of this process's environment is seen
    words = [str(python), "-P", "-c", _FIT, " ".join(COMPARED), *map(str, samples)]
    answer = _run(words, wanted, PYTHONPATH=source)
    report = json.loads(answer)
    if report["version"] != wanted:
        raise TesseraError(f"scikit-learn {wanted}", f"found version {report['version']}", "unset PYTHONPATH")
    return report["coefficients"]


def _run(words: list[str], wanted: str, **environment: str) -> str:
    done = subprocess.run(words, text=True, capture_output=True, env=os.environ | environment)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise TesseraError(
            f"Mosmodel with scikit-learn {wanted}",
            f"{Path(words[0]).name} ended with status {done.returncode}: {' '.join(lines[-6:])}",
            "check the network connection, and that this version exists for this Python",
            exit_code=EXIT_FAILED,
        )
    return done.stdout
