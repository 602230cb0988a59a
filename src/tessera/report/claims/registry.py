"""Evaluators by name: how a claim's value is obtained.

Contract of an evaluator: ``evaluator(claim, evidence, **parameters) -> Outcome``. It reads results and
published numbers only through :class:`tessera.report.claims.evidence.Evidence`, raises ``Missing`` when an
input isn't there, and returns a value in the claim's unit.

A new evaluator is a function in a file of ``report/evaluators/`` and one entry in that file's
``EVALUATORS``; a new file is one line in :data:`FAMILIES`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import cache

from tessera.core.errors import TesseraError, unknown_name

#: Files of ``report/evaluators/``.
FAMILIES: tuple[str, ...] = (
    "definitions",
    "designs",
    "energy",
    "held_out_errors",
    "invariants",
    "measured_cells",
    "model_errors",
    "model_inputs",
    "numa_placements",
    "our_kernel_placement",
    "our_system_cost",
    "park_printed",
    "printed_numbers",
    "real_machines",
    "transfer",
)

#: Families whose values come from the kernel or the allocator of this repository.
OUR_SYSTEM: tuple[str, ...] = ("our_kernel_placement", "our_system_cost")


def merge(families: Mapping[str, Mapping[str, Callable]]) -> dict[str, Callable]:
    """All evaluators of ``families``; a name that is registered twice aborts."""
    found: dict[str, Callable] = {}
    origin: dict[str, str] = {}
    for family, evaluators in families.items():
        for name, function in evaluators.items():
            if name in found:
                raise TesseraError(
                    f"evaluator '{name}' of family '{family}'",
                    f"already registered by family '{origin[name]}'",
                    "choose another name",
                )
            found[name], origin[name] = function, family
    return found


@cache
def evaluators() -> dict[str, Callable]:
    """Every evaluator, by name."""
    package = "tessera.report.evaluators"
    return merge({name: importlib.import_module(f"{package}.{name}").EVALUATORS for name in FAMILIES})


def uses_our_system(name: str) -> bool:
    """Does the evaluator measure our kernel or allocator, in place of the paper's?"""
    return evaluators()[name].__module__.rpartition(".")[2] in OUR_SYSTEM


def find(name: str, parameters: Mapping[str, object]) -> Callable:
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
