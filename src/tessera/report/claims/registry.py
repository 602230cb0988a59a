"""Evaluators by name: how a claim's value is obtained.

Contract of an evaluator: ``evaluator(claim, evidence, **parameters) -> Outcome``. It reads results and
published numbers only through :class:`tessera.report.claims.evidence.Evidence`, raises ``Missing`` when an
input isn't there, and returns a value in the claim's unit.

A new evaluator is a function with the decorator :func:`evaluator` in any file of ``report/evaluators/``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache

from tessera.core.errors import TesseraError, unknown_name

_FOUND: dict[str, Callable] = {}
_OURS: set[str] = set()


def evaluator(function: Callable | str | None = None, *, ours: bool = False) -> Callable:
    """Register the function below under its own name; ``@evaluator("other-name")`` chooses another.

    Args:
        ours: the value comes from the kernel or the allocator of this repository, not from the paper's.

    Raises:
        TesseraError: another function has this name.
    """
    if not callable(function):
        return lambda made: _register(function or made.__name__, made, ours)
    return _register(function.__name__, function, ours)


def _register(name: str, function: Callable, ours: bool) -> Callable:
    if name in _FOUND:
        raise TesseraError(
            f"evaluator '{name}' of {function.__module__}",
            f"already registered by {_FOUND[name].__module__}",
            "choose another name",
        )
    _FOUND[name] = function
    if ours:
        _OURS.add(name)
    return function


@cache
def evaluators() -> Mapping[str, Callable]:
    """Every evaluator of ``report/evaluators/``, by name; the files are imported at the first call."""
    package = importlib.import_module("tessera.report.evaluators")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return _FOUND


def uses_our_system(name: str) -> bool:
    """Does the evaluator measure our kernel or allocator, in place of the paper's?"""
    return name in evaluators() and name in _OURS


def find_evaluator(name: str, parameters: Mapping[str, object]) -> Callable:
    """The evaluator ``name``, after checking that it takes exactly these parameters.

    Raises:
        TesseraError: an unknown evaluator, or parameters that it doesn't take or lacks.
    """
    if name not in evaluators():
        raise unknown_name("evaluator", name, list(evaluators()))
    function = evaluators()[name]
    signature = inspect.signature(function)
    try:
        signature.bind(None, None, **parameters)
    except TypeError as error:
        own = [str(p) for p in list(signature.parameters.values())[2:]]
        raise TesseraError(
            f"parameters {sorted(parameters)} of evaluator '{name}'",
            str(error),
            f"it takes: {', '.join(own) or 'none'}",
        ) from None
    return function
