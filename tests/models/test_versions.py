"""Mosmodel under several scikit-learn versions: how they are compared, and (slow) that they agree."""

import pytest
from click.testing import CliRunner

from tessera.cli.models import models
from tessera.core.errors import TesseraError
from tessera.fit.sklearn_versions import COMPARED, VERSIONS, compare_versions, version_difference

from .builders import make_frame, noisy
from .test_mosmodel import five_terms

NO_NETWORK = ("connect", "dns", "resolve", "fetch", "timed out", "network", "offline")


def test_equal_terms_within_the_tolerance():
    found = version_difference(
        "a", {"1.5": {"1": 100.0, "C": 2.0}, "1.6": {"1": 100.0, "C": 2.0 * (1 + 5e-11)}}
    )
    assert found.equal and found.difference == pytest.approx(5e-11, rel=1e-3)


@pytest.mark.parametrize(
    "other", [{"1": 100.0, "C": 2.0 * (1 + 2e-10)}, {"1": 100.0, "M": 2.0}, {"1": 100.0}]
)
def test_other_coefficients_or_terms_are_different(other):
    assert not version_difference("a", {"1.5": {"1": 100.0, "C": 2.0}, "1.6": other}).equal


def test_the_third_version_counts_too():
    same = {"1": 1.0}
    assert not version_difference("a", {"1.5": same, "1.6": same, "1.7": {"1": 1.1}}).equal


@pytest.mark.slow
def test_both_mosmodels_under_three_versions(tmp_path):
    """Noisy samples, a cubic of five terms, and samples of which some are repeated; by the command."""
    assert len(VERSIONS) == 3
    five = five_terms(("C", "M", "C^2", "C M", "C^3"), 0)[0]
    repeated = noisy().subset([*range(30), *range(24)])
    paths = []
    for name, samples in (("noisy", noisy()), ("five", five), ("repeated", repeated)):
        frame = make_frame(samples).assign(layout=noisy().layouts)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        paths.append(str(tmp_path / f"{name}.csv"))
    try:
        done = CliRunner().invoke(models, ["versions", *paths])
        if isinstance(done.exception, TesseraError):
            raise done.exception
    except TesseraError as error:
        if any(word in error.found.lower() for word in NO_NETWORK):
            pytest.skip(f"no package index: {error.found[:200]}")
        raise
    assert done.exit_code == 0, done.output
    for model in COMPARED:
        assert done.output.count(f".csv {model}: ") == 3
    assert f"6 of 6 equal within 1e-10 under scikit-learn {', '.join(VERSIONS)}" in done.output


@pytest.mark.slow
def test_a_version_that_does_not_exist_is_named(tmp_path):
    make_frame(noisy()).to_csv(tmp_path / "noisy.csv", index=False)
    with pytest.raises(TesseraError, match="scikit-learn 0.0.1"):
        compare_versions([tmp_path / "noisy.csv"], ["0.0.1"])
