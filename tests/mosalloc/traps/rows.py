"""A row of the catalogue: a trap of a preloaded allocator, or a failure of the one we come after.

A test is named as its runner names it: ``2mb.fork`` (ctest, in the build folder) or ``file.py::function``
(pytest, relative to tests/mosalloc). ``4kb``, ``2mb``, ... before a ctest case are the conditions of
artifacts/mosalloc/tests/run_under.py; the same case also runs on the bare kernel, which is the oracle.
"""

from __future__ import annotations

from dataclasses import dataclass

TRAP, FAILURE = "trap", "known failure"


@dataclass(frozen=True)
class Row:
    """``kind`` is TRAP (of the technique) or FAILURE (of the original); ``tests`` must all exist."""

    kind: str
    name: str
    sentence: str
    tests: tuple[str, ...]


def trap(name: str, sentence: str, *tests: str) -> Row:
    return Row(TRAP, name, sentence, tests)


def failure(name: str, sentence: str, *tests: str) -> Row:
    return Row(FAILURE, name, sentence, tests)


def under(case: str, *conditions: str) -> tuple[str, ...]:
    """A case of the ctest suite under each of some conditions, all 4KB and all 2MB if none is named."""
    return tuple(f"{condition}.{case}" for condition in conditions or ("4kb", "2mb"))
