"""What ``tessera measure -- PROGRAM`` prints, as rows of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tessera.measure.program.pairs import Gain
from tessera.measure.program.started import Usage

HEADS = ("pages", "seconds", "gain over 4KB pages", "what the program had")


def usage_rows(seen: Usage) -> Iterator[tuple[str, str]]:
    """Software numbers of one run: no TLB miss is among them."""
    yield "clock time", f"{seen.seconds:.4g} s"
    if seen.user is not None:
        yield "processor time", f"{seen.user:.4g} s user, {seen.system:.4g} s kernel"
        yield "page faults", str(seen.faults)
        yield "context switches", str(seen.switches)


def gain_rows(gains: Sequence[Gain]) -> Iterator[tuple[str, str, str, str]]:
    for number, one in enumerate(gains):
        shown = f"{one.seconds.value:.4g} +- {one.seconds.half_width:.2g}"
        yield one.variant.name, shown, _gain(one) if number else "-", one.pages


def _gain(one: Gain) -> str:
    text = f"{one.gain.value:.1%} +- {one.gain.half_width:.1%}"
    return text if one.proven else f"{text} (may be none)"
