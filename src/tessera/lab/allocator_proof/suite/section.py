"""Input and output of a section of the proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"
VERDICTS = (PASS, FAIL, SKIP)


@dataclass(frozen=True)
class Check:
    """One check. ``reason`` states the failure, or why the check was skipped."""

    name: str
    verdict: str
    reason: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"check '{self.name}': verdict '{self.verdict}' is none of {VERDICTS}")
        if self.verdict != PASS and not self.reason:
            raise ValueError(f"check '{self.name}': {self.verdict} without a reason")


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
class ProofRequest:
    """The request to the sections.

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
    run: Callable[[ProofRequest], Findings]


@dataclass(frozen=True)
class CheckOutcome:
    """A section that has run; ``findings`` holds one failed check where it raised."""

    section: Section
    findings: Findings
    seconds: float = field(compare=False)


def verdict_counts(checks: Iterable[Check]) -> dict[str, int]:
    """How many checks have each verdict."""
    found = Counter(check.verdict for check in checks)
    return {verdict: found[verdict] for verdict in VERDICTS}


def verdict_summary(checks: Iterable[Check]) -> str:
    """``3 passed, 0 failed, 1 skipped``."""
    found = verdict_counts(checks)
    return f"{found[PASS]} passed, {found[FAIL]} failed, {found[SKIP]} skipped"


def tail(text: str, lines: int = 8) -> str:
    """The last lines that hold anything, joined: for reasons, which are one line."""
    return " | ".join([line.strip() for line in text.splitlines() if line.strip()][-lines:])
