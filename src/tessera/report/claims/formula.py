"""Formulas in ``config/claims.yaml``: ``100 * (1 - runtime_cycles["1gb"] / runtime_cycles["growing-0"])``.

Python's arithmetic, comparisons, ``a if b else c`` and :data:`FUNCTIONS`. A name is a number; what keys in
brackets mean, the evaluator says.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from math import ceil, comb, log10

from tessera.core.errors import TesseraError

FUNCTIONS = {function.__name__: function for function in (abs, ceil, comb, log10, max, min)}
_ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Subscript, ast.Tuple, ast.Call),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)


def formula_value(formula: str, value: Callable[..., float]) -> float:
    """What the formula gives, if ``value(name, *keys)`` is the number of a name with keys in brackets.

    Raises:
        TesseraError: no formula.
        ZeroDivisionError: a divisor is zero.
    """
    try:
        tree = ast.parse(formula, mode="eval")
    except SyntaxError as error:
        raise TesseraError(f"formula '{formula}'", str(error), "correct it") from None
    nodes = list(ast.walk(tree))
    for node in nodes:
        if not isinstance(node, _ALLOWED):
            allowed = f"use arithmetic, comparisons, if-else and {', '.join(FUNCTIONS)}"
            raise TesseraError(f"formula '{formula}'", f"it has a {type(node).__name__}", allowed)
    keyed = {node.value.id for node in nodes if isinstance(node, ast.Subscript)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - set(FUNCTIONS)
    known = {name: _Keyed(name, value) if name in keyed else value(name) for name in names}
    return eval(compile(tree, "formula", "eval"), {"__builtins__": {}}, FUNCTIONS | known)


class _Keyed:
    """``name[key]`` and ``name[key, key]`` in a formula."""

    def __init__(self, name: str, value: Callable[..., float]):
        self.name, self.value = name, value

    def __getitem__(self, keys) -> float:
        return self.value(self.name, *(keys if isinstance(keys, tuple) else (keys,)))
