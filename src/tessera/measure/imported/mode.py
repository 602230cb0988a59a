"""User mode (``u``) or user mode and kernel (``uk``): one for all counts of an import.

perf shows the mode of an event only in some forms: ``cycles:u`` does, members of ``{...}:u`` and events with
``name=`` do not. Our aliases end in the mode for this reason.
"""

from __future__ import annotations

from collections.abc import Iterable

from tessera.core.errors import TesseraError
from tessera.counters.command import MODES
from tessera.measure.imported.totals import Total


def mode_of(totals: Iterable[Total], asked: str | None = None) -> str:
    """The mode of all hardware events.

    Args:
        asked: what the user says (``--mode``), for events that show no mode.

    Raises:
        TesseraError: events show two modes, or another one than asked; some or all show none and nothing is
            asked; an event counted the kernel alone.
    """
    shown: dict[str, Total] = {}
    for total in totals:
        if not total.named.software:
            shown.setdefault(total.named.mode, total)
    hidden = shown.pop("", None)
    places = {mode: f"{total.text} ({total.path.name}): {mode}" for mode, total in shown.items()}
    if len(shown) > 1 or set(shown) - set(MODES) or (asked and set(shown) - {asked}):
        found = "; ".join(places.values()) + (f"; asked: {asked}" if asked else "")
        raise TesseraError(
            "one mode for all events",
            found,
            f"record all events in one of: {', '.join(MODES)}",
            code="mode-mixed",
        )
    if asked:
        return asked
    if hidden is not None:
        others = "; ".join(places.values()) or "no event does"
        raise TesseraError(
            "the mode of all events",
            f"{hidden.text} ({hidden.path.name}) does not show it; {others}",
            "say how they were recorded: --mode u, or --mode uk (perf without :u, paranoid 1 or less)",
            code="mode-hidden",
        )
    return next(iter(shown), "") or _nothing()


def _nothing() -> str:
    raise TesseraError(
        "the mode of all events", "the logs have no hardware event", "record cycles and the events of H, M, C"
    )
