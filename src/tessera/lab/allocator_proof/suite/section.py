"""Input and output of a section of the proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.checks import Check


@dataclass(frozen=True)
class Findings:
    """A section's result.

    Attributes:
        checks: what counts. An empty list is a failure: nothing was proven.
        text: the table as people read it.
        rows: the table's rows as data, for the CSV; all with the same keys.
        notes: sentences that explain and fail nothing.
    """

    checks: Sequence[Check]
    text: str
    rows: Sequence[dict] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class ProofSettings:
    """What all sections are told.

    Attributes:
        folder: for results and for files of the runs.
        say: progress, one line at a time.
        quick: small inputs.
        operations: random calls of the differential test, for each number of threads; of the random lives,
            in all.
        cases: regular expression of the cases to run; None: all tests of the component.
    """

    folder: Path
    say: Callable[[str], None]
    quick: bool = False
    operations: int = 10_000_000
    cases: str | None = None


@dataclass(frozen=True)
class Section:
    """One table: ``name`` chooses it, ``title`` is its heading, ``run`` makes it (and may raise)."""

    name: str
    title: str
    run: Callable[[ProofSettings], Findings]


@dataclass(frozen=True)
class CheckOutcome:
    """A section that has run; ``findings`` holds one failed check where it raised."""

    section: Section
    findings: Findings
    seconds: float = field(compare=False)


def tail(text: str, lines: int = 8) -> str:
    """The last lines that hold anything, joined: for reasons, which are one line."""
    return " | ".join([line.strip() for line in text.splitlines() if line.strip()][-lines:])
