"""Rows of ``perf stat -j`` (perf 6.0 and later): one JSON object a line.

Four keys are read: ``counter-value``, ``event``, ``event-runtime`` and ``pcnt-running``; beside them
``unit``, ``interval``, ``variance``, ``cgroup`` and the names of parts. All others differ between versions
and are ignored. In languages with decimal commas perf writes ``"pcnt-running" : 100,00``, which is no JSON.
Perf quotes each key, so a comma between two digits is such a comma.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation

from tessera.counters.perf.row import WORDS, Row, malformed, shown

#: Keys that say whose count it is, if not the program's.
PARTS = ("socket", "die", "cluster", "cache", "core", "node", "cpu", "thread")
#: perf writes counts with six decimals, percentages with two and times with nine.
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,12})?", re.ASCII)
_COUNT = re.compile(r"\d{1,30}\.\d{6}", re.ASCII)
_RUNNING = re.compile(r"\d{1,20}", re.ASCII)
_COMMA = re.compile(r"(?<=: )(\"?)(\d+),(\d+)\1(?=\s*[,}])", re.ASCII)
#: A line with one of these words is perf's, or is refused.
_WORDS = ("counter-value", "event-runtime", "pcnt-running")


def begins(line: str) -> bool:
    """Whether the line has the object of a count."""
    return '"counter-value"' in line and "{" in line


def parse_line(owner: str, number: int, line: str) -> Row | None:
    """The row of a line; None for metrics of perf and for lines of the program.

    Output of the program may stand before the object, if it ended without a line end.

    Raises:
        TesseraError: the line has a key of a count, but is no JSON object or lacks one of the four keys.
    """
    place = min((line.find(word) for word in _WORDS if word in line), default=None)
    if place is None:
        return None
    start = max(line.rfind("{", 0, place), 0)
    if set(line[:start]) & set('"{'):
        raise malformed(owner, number, f"'{shown(line)}' has other JSON before the object of a count")
    found = _object(owner, number, line[start:])
    if "counter-value" not in found:
        if "event" in found:
            raise malformed(owner, number, "the key counter-value is missing")
        return None
    text, event = str(found["counter-value"]).strip(), found.get("event")
    missing = WORDS.get(text, "")
    if not missing and not _COUNT.fullmatch(text):
        raise malformed(owner, number, f"counter-value is '{shown(text)}'")
    if not isinstance(event, str) or not event.strip():
        raise malformed(owner, number, "the key event is missing or empty")
    running = str(found.get("event-runtime", "missing"))
    if not _RUNNING.fullmatch(running):
        raise malformed(owner, number, f"event-runtime is '{shown(running)}'")
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
        cgroup=str(found.get("cgroup", "")),
    )


def _object(owner: str, number: int, text: str) -> dict:
    for form in (text, _COMMA.sub(r"\1\2.\3\1", text)):
        try:
            found = json.loads(
                form, parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse, object_pairs_hook=_once
            )
        except (ValueError, RecursionError, InvalidOperation):
            continue
        if isinstance(found, dict):
            return found
    raise malformed(owner, number, f"'{shown(text)}' is no JSON object") from None


def _once(pairs: list[tuple[str, object]]) -> dict:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _number(owner: str, line: int, found: dict, key: str) -> Decimal:
    text = str(found.get(key, "missing")).strip()
    if not _NUMBER.fullmatch(text):
        raise malformed(owner, line, f"{key} is '{shown(text)}'")
    return Decimal(text)


def _refuse(text: str) -> Decimal:
    raise ValueError(text)
