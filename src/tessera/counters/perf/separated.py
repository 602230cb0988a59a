"""Rows of ``perf stat -x SEP``.

``[seconds SEP] [part SEP [number SEP]] value SEP unit SEP event [SEP spread%] SEP running_ns SEP percent [SEP
metric SEP unit]`` (man perf-stat, "CSV FORMAT"). Perf does not quote, so with ``-x,`` an event such as
``cpu/event=0x08,umask=0x10/`` contains separators: its slashes show where it ends.
"""

from __future__ import annotations

import re
from decimal import Decimal

from tessera.counters.perf.row import WORDS, Row, malformed, shown

SEPARATORS = (";", ",", "|", "\t", ":", "!", "@", "#", "%", " ")

_NUMBER = re.compile(r"\d{1,30}(\.\d{1,12})?", re.ASCII)
_SECONDS = re.compile(r" *\d{1,12}\.\d{9}", re.ASCII)
_CPU = re.compile(r"CPU-?\d+", re.ASCII)
_GROUP = re.compile(r"(?:[SN]\d+)(?:-[A-Z]{1,4}\d+)*|(?:S\d+-)?D\d+(?:-[A-Z]{1,4}\d+)*", re.ASCII)
_THREAD = re.compile(r".+-\d+", re.ASCII)
_SPREAD = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)%", re.ASCII)


def separator_of(line: str) -> str | None:
    """The separator that makes this line a row; None if no usual one does."""
    return next((sep for sep in SEPARATORS if sep in line and _parsed(line, sep)), None)


def parse_line(owner: str, number: int, line: str, separator: str) -> Row | None:
    """The row of a line; None for a line that has only a metric, or repeats intervals as their summary.

    Raises:
        TesseraError: the line has another form.
    """
    fields = _parsed(line, separator)
    if fields is None:
        raise malformed(owner, number, _why(line, separator))
    if not fields:
        return None
    return Row(line=number, **fields)


def _why(line: str, separator: str) -> str:
    if re.match(r"\s*\d+,\d+" + re.escape(separator) + "msec", line):
        return f"'{shown(line)}' has decimal commas: it was recorded in another locale"
    return f"'{shown(line)}' is no row of `perf stat -x{separator}`"


def _parsed(line: str, separator: str) -> dict | None:
    """Fields of :class:`Row`; {} for a line to skip, None for another form."""
    words = line.rstrip("\r\n").split(separator)
    at, seconds, part = 0, None, ""
    if _SECONDS.fullmatch(words[0]) and len(words) > 5:
        seconds, at = Decimal(words[0].strip()), 1
    if not _is_value(words[at]) and words[at].strip():
        part = words[at].strip()
        if part == "summary":  # of --summary: the intervals again, added up
            return {}
        if not any(form.fullmatch(part) for form in (_CPU, _GROUP, _THREAD)):
            return None
        grouped = _GROUP.fullmatch(part) and len(words) > at + 1 and words[at + 1].strip().isdecimal()
        at += 2 if grouped else 1
        if at >= len(words):
            return None
    value = words[at].strip()
    if not value:
        return {} if len(words) > at + 3 else None
    if not _is_value(value) or len(words) < at + 4:
        return None
    event, rest = _event(words[at + 2 :], separator)
    spread = None
    if rest and (match := _SPREAD.fullmatch(rest[0].strip())):
        spread, rest = Decimal(match[1]), rest[1:]
    if not event or len(rest) < 2:
        return None
    running, percent = rest[0].strip(), rest[1].strip()
    if not re.fullmatch(r"\d{1,20}", running, re.ASCII) or not _NUMBER.fullmatch(percent):
        return None
    missing = WORDS.get(value, "")
    return {
        "event": event,
        "value": None if missing else Decimal(value),
        "missing": missing,
        "unit": words[at + 1].strip(),
        "running_ns": int(running),
        "percent": Decimal(percent),
        "spread_percent": spread,
        "seconds": seconds,
        "part": part,
    }


def _is_value(text: str) -> bool:
    return text.strip() in WORDS or _NUMBER.fullmatch(text.strip()) is not None


def _event(words: list[str], separator: str) -> tuple[str, list[str]]:
    """The event, put together up to its closing slash, and the fields behind it."""
    for end in range(1, len(words) + 1):
        event = separator.join(words[:end])
        if event.count("/") % 2 == 0:
            return event.strip(), words[end:]
    return words[0].strip(), words[1:]
