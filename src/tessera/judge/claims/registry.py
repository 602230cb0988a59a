"""Protocols by name: how a claim's value is obtained.

Contract of a protocol: ``protocol(claim, evidence, **parameters) -> Outcome``. It reads results and
published numbers only through :class:`tessera.judge.claims.evidence.Evidence`, raises ``Missing`` when an
input isn't there, and returns a value in the claim's unit.

A new protocol is a function in a file of ``judge/claims/protocols/`` and one entry in that
file's ``PROTOCOLS``; a new file is one line in :data:`FAMILIES`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import cache

from tessera.core.errors import TesseraError, unknown_name

#: Files of ``judge/claims/protocols/``.
FAMILIES: tuple[str, ...] = (
    "bias",
    "counters",
    "counting",
    "crossval",
    "data_rules",
    "fastest",
    "formulas",
    "host",
    "inputs",
    "judgements",
    "kernel_cost",
    "kernel_placement",
    "layout_rules",
    "mitosis_printed",
    "model_errors",
    "model_rules",
    "mosaics",
    "not_measurable",
    "one_gb",
    "platforms",
    "printed",
    "printed_tables",
    "rsquared_rows",
    "runtimes",
    "shape",
)


def merge(families: Mapping[str, Mapping[str, Callable]]) -> dict[str, Callable]:
    """All protocols of ``families``; a name that is registered twice aborts."""
    found: dict[str, Callable] = {}
    origin: dict[str, str] = {}
    for family, protocols in families.items():
        for name, function in protocols.items():
            if name in found:
                raise TesseraError(
                    f"protocol '{name}' of family '{family}'",
                    f"already registered by family '{origin[name]}'",
                    "choose another name",
                )
            found[name], origin[name] = function, family
    return found


@cache
def protocols() -> dict[str, Callable]:
    """Every protocol, by name."""
    package = "tessera.judge.claims.protocols"
    return merge({name: importlib.import_module(f"{package}.{name}").PROTOCOLS for name in FAMILIES})


def find(name: str, parameters: Mapping[str, object]) -> Callable:
    """The protocol ``name``, after checking that it takes exactly these parameters.

    Raises:
        TesseraError: an unknown protocol, or parameters that it doesn't take or lacks.
    """
    if name not in protocols():
        raise unknown_name("protocol", name, list(protocols()))
    function = protocols()[name]
    signature = inspect.signature(function)
    try:
        signature.bind(None, None, **parameters)
    except TypeError as error:
        own = [str(p) for p in list(signature.parameters.values())[2:]]
        raise TesseraError(
            f"parameters {sorted(parameters)} of protocol '{name}'",
            str(error),
            f"it takes: {', '.join(own) or 'none'}",
        ) from None
    return function
