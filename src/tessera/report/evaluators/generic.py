"""Evaluators for many claims: a formula or an aggregate of printed numbers, of pairs, of designs.

Claims write their formula in ``config/claims.yaml`` (:mod:`tessera.report.claims.formula`).
"""

from __future__ import annotations

from collections.abc import Callable

from tessera.core.errors import unknown_name
from tessera.core.layouts.layout import ALL_1GB
from tessera.core.results.loader import Pair
from tessera.core.units import GB, KB, MB
from tessera.report.claims.claim import Missing, Outcome, Value
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.formula import formula_value
from tessera.report.claims.registry import evaluator
from tessera.report.claims.selection import aggregate, deciding_pairs, describe_distribution
from tessera.report.evaluators.designs import PROVENANCE, design_number
from tessera.report.evaluators.model_errors import ALL_SAMPLES, error_percent
from tessera.report.evaluators.model_inputs import coefficient

Named = str | dict  #: one formula or aggregate, or several by published name

UNITS = {"KB": KB, "MB": MB, "GB": GB}


@evaluator
def printed(claim, evidence, formula: Named, numbers: dict | None = None) -> Outcome:
    """A formula of printed numbers; several, by name, give named values.

    ``table["x"]`` is the number of a published table whose quantity is x. Other names are those of
    ``numbers``, or KB, MB and GB in bytes.
    """
    known = {name: evidence.number(spec) for name, spec in (numbers or {}).items()} | UNITS

    def value(name: str, *keys: str) -> float:
        if keys:
            return evidence.number({"table": name, "where": dict(zip(["quantity"], keys, strict=True))})
        if name not in known:
            raise unknown_name("number", name, list(known))
        return known[name]

    return Outcome(_each(formula, lambda one: formula_value(one, value)), "published")


@evaluator
def reference_aggregate(claim, evidence, table: str, where: dict, how: Named) -> Outcome:
    """Sum, product, count, minimum, maximum, mean or median of printed numbers; several by name."""
    values = evidence.rows(table, where)["value"]
    return Outcome(_each(how, lambda one: aggregate(values, one)), "published")


@evaluator
def reference_rank(claim, evidence, table: str, by: str, item: str, how: str) -> Outcome:
    """Rank of ``item`` among the groups of key ``by``, 1 = smallest."""
    groups = evidence.rows(table).groupby(by)["value"]
    values = {name: aggregate(numbers, how) for name, numbers in groups}
    return Outcome(1 + sum(other < values[item] for other in values.values()), "published")


def _pages_2mb(evidence: Evidence, pair: Pair, layout: str) -> float:
    pages = evidence.manifest(pair)["pages_2mb"]
    if layout not in pages.index:
        raise Missing(f"{pair}: layout {layout} is not in the manifest")
    return float(pages[layout])


#: Names in formulas of a pair that are no column of the cells.
OF_PAIR: dict[str, Callable[..., float]] = {
    "error": lambda evidence, pair, model: error_percent(evidence, pair, model, ALL_SAMPLES),
    "error_1gb": lambda evidence, pair, model: error_percent(evidence, pair, model, ALL_1GB),
    "coefficient": coefficient,
    "pages_2mb": _pages_2mb,
}


@evaluator
def over_pairs(
    claim, evidence, formula: str, how: str, insensitive: bool = False, numbers: dict | None = None
) -> Outcome:
    """``how`` over the pairs in scope of a formula of each pair.

    ``column["layout"]`` is a column of the cells, ``error["model"]`` and ``error_1gb["model"]`` the largest
    error on the fitted layouts and the error of the 1GB run in percent, ``coefficient["model", "term"]`` a
    coefficient in raw units, ``pages_2mb["layout"]`` a number of pages; other names are printed ``numbers``.

    Args:
        insensitive: keep pairs that are not TLB-sensitive.
    """
    known = {name: evidence.number(spec) for name, spec in (numbers or {}).items()}

    def of(pair: Pair) -> float:
        def value(name: str, *keys: str) -> float:
            if not keys:
                return known[name]
            if name in OF_PAIR:
                return OF_PAIR[name](evidence, pair, *keys)
            return evidence.cell(pair, *keys, name)

        return _number(str(pair), formula, value)

    return deciding_pairs(claim, evidence, insensitive=insensitive).each(of, how)


@evaluator
def of_designs(claim, evidence, formula: str, workloads: dict) -> Outcome:
    """A formula of the study of designs for single workloads; ``workloads``: published name -> workload.

    ``column["design", "mapping"]`` is a column of the study's cells.
    """
    values = {name: _of_designs(evidence, formula, workload) for name, workload in workloads.items()}
    return Outcome(values, PROVENANCE)


@evaluator
def over_designs(claim, evidence, formula: Named, how: str) -> Outcome:
    """``how`` over the workloads in scope of such a formula; several, by name, give named values."""
    numbers = {
        one: [_of_designs(evidence, one, workload) for workload in claim.scope.workloads]
        for one in (formula.values() if isinstance(formula, dict) else [formula])
    }
    spread = "" if isinstance(formula, dict) else describe_distribution(numbers[formula], how, "workloads")
    return Outcome(_each(formula, lambda one: aggregate(numbers[one], how)), PROVENANCE, distribution=spread)


def _of_designs(evidence: Evidence, formula: str, workload: str) -> float:
    return _number(workload, formula, lambda name, *keys: design_number(evidence, workload, *keys, name))


def _each(asked: Named, value: Callable[[str], float]) -> Value:
    return {name: value(one) for name, one in asked.items()} if isinstance(asked, dict) else value(asked)


def _number(of: str, formula: str, value: Callable[..., float]) -> float:
    try:
        return float(formula_value(formula, value))
    except ZeroDivisionError:
        raise Missing(f"{of}: a divisor is zero in {formula}") from None
