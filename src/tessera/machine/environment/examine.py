"""All conditions that can be read before a run, and their file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, fields
from pathlib import Path

from tessera.machine.environment import boot, counting, kernel, pages, processor, tuning
from tessera.machine.environment.condition import Condition
from tessera.machine.environment.rule import Needs, Rule
from tessera.machine.environment.tree import Tree

#: Every rule, in the order of the table. A new condition is one more rule in one of these modules.
RULES: tuple[Rule, ...] = (
    *counting.RULES,
    *pages.RULES,
    *processor.RULES,
    *kernel.RULES,
    *tuning.RULES,
    *boot.RULES,
)
#: Names of the conditions that :func:`examine` reads.
CHECKS = tuple(rule.check for rule in RULES)


def examine(root: Path = Path("/"), needs: Needs = Needs()) -> list[Condition]:  # noqa: B008 (it is frozen)
    """Every condition as it is now, in the order of :data:`CHECKS`; reads files below ``root`` only.

    What cannot be read has the status ``unknown``, and the reason in ``found``.
    """
    tree = Tree(Path(root))
    return [rule.condition(tree, needs) for rule in RULES]


def as_csv(conditions: Iterable[Condition]) -> str:
    """Content of ``environment.csv``: check, level, wanted, found, status, remedy."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(field.name for field in fields(Condition))
    writer.writerows(map(astuple, conditions))
    return stream.getvalue()
