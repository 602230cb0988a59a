"""A layout's turn in a round: one run of each pass. R of the passes must agree.

The first pass changes from round to round, so that no pass always runs on a colder machine. A run that fails
is tried again at once; only the last failure is recorded, because a failed run leaves its layout without
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tessera.bundles.model import Count, CountedEvent, Run
from tessera.bundles.numbers import LARGEST_SPREAD, R
from tessera.measure.counted.launched import Ended

ATTEMPTS = 3


@dataclass(frozen=True)
class Turn:
    """All passes of a layout in a round; ``runtime`` is R in cycles, their mean, None if one failed."""

    layout: str
    round: int
    status: str
    runtime: float | None


def order(passes: Sequence[str], number: int) -> list[str]:
    """The passes of round ``number``, rotated."""
    first = number % len(passes)
    return [*passes[first:], *passes[:first]]


def value(counts: Sequence[Count], events: Sequence[CountedEvent], role: str) -> int | None:
    """The count of a role in a run; None if its pass does not count it."""
    names = [event.name for event in events if event.role == role]
    return next((count.value for count in counts if count.event in names), None)


def disagreement(found: Sequence[int]) -> str:
    """Why these R are not those of one program; empty if they agree."""
    mean = sum(found) / len(found)
    spread = (max(found) - min(found)) / mean if mean else 0.0
    if mean and spread <= LARGEST_SPREAD:
        return ""
    return f"R is {min(found)} to {max(found)} cycles in the passes of this round: {spread:.1%} apart"


def attempt(
    run_pass: Callable[[], Ended], others: Sequence[int], cycles_of: Callable[[Ended], int],
    say: Callable[[str], None],
) -> Ended:  # fmt: skip
    """One pass, tried up to :data:`ATTEMPTS` times until it counts and agrees with the ``others``' R."""
    for number in range(1, ATTEMPTS + 1):
        ended = run_pass()
        message = ended.message or disagreement([*others, cycles_of(ended)])
        if not message:
            return ended
        if number < ATTEMPTS:
            say(f"attempt {number} of {ATTEMPTS} failed: {message}")
    return Ended(f"{ATTEMPTS} attempts, the last: {message}", ended.seconds)


def finished(
    runs: Sequence[Run],
    counts: dict[int, Sequence[Count]],
    passes: dict[str, Sequence[CountedEvent]],
    workload: str,
) -> list[Turn]:
    """Complete turns of a workload among earlier runs, in the order of their rounds."""
    found: dict[tuple[int, str], dict[str, int]] = {}
    for run in runs:
        if run.workload == workload and run.good:
            cycles = value(counts[run.run], passes[run.pass_name], R)
            found.setdefault((run.round, run.layout), {})[run.pass_name] = cycles
    whole = {key: values for key, values in found.items() if values.keys() == passes.keys()}
    return [
        Turn(layout, number, "ok", sum(values.values()) / len(values))
        for (number, layout), values in sorted(whole.items())
    ]
