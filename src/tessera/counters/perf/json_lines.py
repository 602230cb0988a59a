"""Rows of ``perf stat -j`` (perf 6.0 and later): one JSON object a line.

Four keys are read: ``counter-value``, ``event``, ``event-runtime`` and ``pcnt-running``; beside them
``unit``, ``interval``, ``variance`` and the names of parts. All others differ between versions and are
ignored.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation

from tessera.counters.perf.row import WORDS, Row, malformed, shown

#: Keys that say whose count it is, if not the program's.
PARTS = ("socket", "die", "cluster", "cache", "core", "node", "cpu", "thread")
_NUMBER = re.compile(r"\d{1,30}(\.\d{1,12})?", re.ASCII)


def parse_line(owner: str, number: int, line: str) -> Row | None:
    """The row of a line; None for an object that has only a metric.

    Raises:
        TesseraError: the line is no JSON object, or one of the four keys is missing or malformed.
    """
    try:
        found = json.loads(line, parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError, InvalidOperation):
        raise malformed(owner, number, f"'{shown(line)}' is no JSON object") from None
    if not isinstance(found, dict):
        raise malformed(owner, number, f"'{shown(line)}' is no JSON object")
    if "counter-value" not in found:
        if any(key.startswith("metric-") for key in found):
            return None
        raise malformed(owner, number, "the key counter-value is missing")
    text, event = str(found["counter-value"]).strip(), found.get("event")
    missing = WORDS.get(text, "")
    if not missing and not _NUMBER.fullmatch(text):
        raise malformed(owner, number, f"counter-value is '{shown(text)}'")
    if not isinstance(event, str) or not event.strip():
        raise malformed(owner, number, "the key event is missing or empty")
    running = _number(owner, number, found, "event-runtime")
    unit = found.get("unit") or ""
    return Row(
        line=number,
        event=event.strip(),
        value=None if missing else Decimal(text),
        missing=missing,
        unit=unit if isinstance(unit, str) and unit != "(null)" else "",
        running_ns=int(running),
        percent=_number(owner, number, found, "pcnt-running"),
        spread_percent=_number(owner, number, found, "variance") if "variance" in found else None,
        seconds=_number(owner, number, found, "interval") if "interval" in found else None,
        part=" ".join(f"{key} {found[key]}" for key in PARTS if key in found),
    )


def _number(owner: str, line: int, found: dict, key: str) -> Decimal:
    text = str(found.get(key, "missing")).strip()
    if not _NUMBER.fullmatch(text):
        raise malformed(owner, line, f"{key} is '{shown(text)}'")
    return Decimal(text)


def _refuse(text: str) -> Decimal:
    raise ValueError(text)
