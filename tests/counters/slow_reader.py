"""A slow reader that decides what a damaged log means. It shares nothing with the readers of the package.

It is told how the log was recorded (:class:`Options`), takes each line apart from left to right, and knows no
summary but by comparison. None as a result means: this log is not what perf writes for one run.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

from .stat_text import KEYS, LANGUAGES, Options


def meaning(options: Options, data: bytes) -> dict[str, Decimal] | None:
    """Sums by event (over intervals and parts; clocks in msec), or None."""
    text = data.decode(options.encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")
    rows, order, inside = [], [], False
    for line in re.sub("\x1b\\[[0-9;]*m", "", text).split("\n"):
        if line.startswith("# started on ") and rows:
            return None
        inside = inside or line.startswith(" Performance counter stats for ")
        found = (_json if options.form == "-j" else _table if options.form == "table" else _separated)(
            options, line
        )
        if found is not None and (options.form != "table" or found[0] or inside):
            rows.append(found)
            order.append(found[0])
    times = [time for time in order if time not in ("", "summary")]
    if times != sorted(times, key=Decimal) or (times and order[: len(times)] != times):
        return None
    if len({time for time in order[len(times) :]}) > 1:
        return None
    counted = rows[: len(times)] or rows
    seen, totals = set(), {}
    for time, part, event, value in counted:
        if (time, part, event) in seen:
            return None
        seen.add((time, part, event))
        totals[event] = totals.get(event, Decimal(0)) + value
    return totals


def _plain(text: str, point: str, places: tuple[int, ...]) -> Decimal | None:
    whole, mark, rest = text.partition(point)
    if not (whole.isascii() and whole.isdigit()):
        return None
    if (
        (mark and len(rest) not in places)
        or (not mark and 0 not in places)
        or not (rest.isascii() and (rest.isdigit() or not mark))
    ):
        return None
    return Decimal(whole + "." + (rest or "0"))


def _value(text: str, point: str, clock: bool, six: bool = False) -> Decimal | None:
    if text in ("<not counted>", "<not supported>"):
        return Decimal(0)
    return _plain(text, point, (6,) if six else (2,) if clock else (0,))


def _time(text: str) -> bool:
    seconds, _, rest = text.partition(".")
    return seconds.isascii() and seconds.isdigit() and len(rest) == 9 and rest.isascii() and rest.isdigit()


def _separated(options: Options, line: str) -> tuple | None:
    point, sep = LANGUAGES[options.language][0], options.form
    line = line.removeprefix(options.glued) if options.intervals else line
    if sep == " ":
        line = line.lstrip(" ").replace("<not counted>", "<not_counted>")
    words = [word.replace("_counted>", " counted>") for word in line.split(sep)]
    time = part = ""
    if options.intervals:
        head = words[0][-16:].strip(" ")
        if _time(head) or head == "summary":
            time, words = head, words[1:]
    if options.parts and words:
        part, words = words[0], words[1:]
        if options.parts not in ("-A", "--per-thread"):
            words = words[1:]
    if len(words) < 5:
        return None
    unit, event, rest = words[1], words[2], words[3:]
    while event.count("/") % 2 and rest:
        event, rest = event + sep + rest[0], rest[1:]
    if sep == ":" and rest and rest[0] in ("u", "uk", "k", "h"):
        event, rest = event + ":" + rest[0], rest[1:]
    if options.cgroup:
        rest = rest[1:]
    if options.runs > 1:
        rest = rest[2:] if sep == "%" else rest[1:]
    value = _value(words[0].strip(), point, unit == "msec")
    good = (
        value is not None and len(rest) > 1 and rest[0].isdigit() and _plain(rest[1], point, (2,)) is not None
    )
    return (time, part, event, value) if good and event and unit in ("", "msec") else None


def _json(options: Options, line: str) -> tuple | None:
    start = line.find("{")
    if start < 0:
        return None
    text, point = line[start:], LANGUAGES[options.language][0]
    if point == ",":
        text = re.sub(r'( : "?\d+),(\d+)', r"\1.\2", text)
    try:
        found = json.loads(text, parse_float=str, parse_int=str)
    except ValueError:
        return None
    if not isinstance(found, dict) or not {"counter-value", "event", "event-runtime", "pcnt-running"} <= set(
        found
    ):
        return None
    value = _value(str(found["counter-value"]), ".", False, six=True)
    part = str(found.get(KEYS.get(options.parts, ""), ""))
    return (
        None if value is None else (str(found.get("interval", "")), part, str(found["event"]).strip(), value)
    )


def _table(options: Options, line: str) -> tuple | None:
    time = ""
    found = re.search(r"(\d+\.\d{9}) ", line)
    if (
        options.intervals
        and found
        and found.end() >= 17
        and not line[found.end() - 17 : found.start()].strip(" ")
    ):
        time, line = found[1], line[found.end() :]
    if options.parts or len(line) < 24 or line[18] != " ":
        return None
    text, words = line[:18].strip(" "), line[19:].split()
    if not words or words[0].startswith("#"):
        return None
    point, group, _ = LANGUAGES[options.language]
    clock = words[0] == "msec"
    if group and text.replace(group, "").replace(point, "").isdigit():
        text = text.replace(group, "")
    value = _value(text, point, clock)
    event = words[1] if clock and len(words) > 1 else words[0]
    return None if value is None or "seconds" in words[:2] else (time, "", event, value)
