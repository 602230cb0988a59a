"""Names of evaluators: duplicates abort, unknown names list the valid ones, parameters are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

import tessera.report.evaluators
from tessera.core.errors import TesseraError
from tessera.report.claims import registry


def test_a_name_registered_twice_aborts(monkeypatch):
    monkeypatch.setattr(registry, "_FOUND", {})
    registry.evaluator("slope")(max)
    with pytest.raises(TesseraError, match="'slope' of .* already registered by builtins"):
        registry.evaluator("slope")(len)


def test_unknown_evaluator_lists_the_valid_ones():
    with pytest.raises(TesseraError, match="max_error"):
        registry.find_evaluator("max_eror", {})


@pytest.mark.parametrize(
    "parameters",
    [{"model": "basu"}, {"model": "basu", "how": "max", "colour": "red"}],
    ids=["one missing", "one too many"],
)
def test_parameters_are_checked(parameters):
    with pytest.raises(TesseraError, match="it takes: model"):
        registry.find_evaluator("max_error", parameters)


def test_the_name_is_that_of_the_function_or_the_given_one(monkeypatch):
    monkeypatch.setattr(registry, "_FOUND", {})
    monkeypatch.setattr(registry, "_OURS", set())

    @registry.evaluator
    def first(claim, evidence): ...

    @registry.evaluator("second", ours=True)
    def other(claim, evidence): ...

    assert registry._FOUND == {"first": first, "second": other} and registry._OURS == {"second"}


def test_every_file_of_evaluators_is_imported():
    folder = Path(tessera.report.evaluators.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    modules = {function.__module__.rpartition(".")[2] for function in registry.evaluators().values()}
    assert modules == files


def test_every_evaluator_is_described():
    assert all(function.__doc__ for function in registry.evaluators().values())
