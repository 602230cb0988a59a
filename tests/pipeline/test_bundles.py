"""Bundles in the workflow: their content is an input of claims, notebooks and report, and of nothing else."""

from __future__ import annotations

import shutil

import pytest

from .stub_checkout import Checkout, kinds

pytestmark = pytest.mark.slow

AFTER = {"dev step machines", "dev notebooks run", "report render", "report check"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("checkout"), "smoke")
    first = checkout.steps("smoke")
    assert AFTER <= kinds(first)
    (step,) = [step for step in first if step.startswith("dev step machines")]
    assert step.endswith("--out results/smoke/machines/bundles.json")
    return checkout


def test_a_bundle_is_an_input_by_content(finished, tmp_path):
    """The check of the claims is a target without a file, so it runs at every start."""
    bundle = tmp_path / "a bundle"
    bundle.mkdir()
    (bundle / "runs.csv").write_text("1\n")
    named = {"TESSERA_BUNDLES": f"{bundle}\n"}
    steps = finished.steps("smoke", **named)
    assert kinds(steps) == AFTER
    (step,) = [step for step in steps if step.startswith("dev step machines")]
    assert f"bundle={bundle} --out" in step
    assert kinds(finished.steps("smoke", **named)) == {"report check"}
    (bundle / "runs.csv").touch()
    assert kinds(finished.steps("smoke", **named)) == {"report check"}
    (bundle / "runs.csv").write_text("2\n")
    assert kinds(finished.steps("smoke", **named)) == AFTER
    assert kinds(finished.steps("smoke")) == AFTER
    added = finished.folder / "bundles" / "broadwell-01234567-89abcdef"
    shutil.copytree(bundle, added)
    (step,) = [s for s in finished.steps("smoke") if s.startswith("dev step machines")]
    assert f"bundle=bundles/{added.name} --out" in step
