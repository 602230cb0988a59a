"""Rows of ``perf stat`` for programs: ``-x SEP``, and ``-j`` (perf 6.0 and later)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from decimal import Decimal, InvalidOperation

from tessera.machine.perf.row import AGAIN, WORDS, PerfCount, malformed, shown

# Rows of ``perf stat -x SEP``.
#
# ``[seconds SEP | summary SEP] [part SEP [number SEP]] value SEP unit SEP event [SEP cgroup] [SEP spread%]
# SEP running_ns SEP percent [SEP metric SEP unit]`` (man perf-stat, "CSV FORMAT"). Perf does not quote, so
# with ``-x,`` an event such as ``cpu/event=0x08,umask=0x10/`` contains separators: its slashes show where it
# ends.
#
# Perf writes the percentage with two decimals, and values with none, two or six. Some languages have a
# decimal comma: with ``-x,`` it can't be told from the separator, so such a row is refused.

SEPARATORS = (
    ";", ",", "|", "\t", ":", "!", "@", "#", "%", " ", "^", "~", "$", "&", "::", ";;", ",,", "||", "; ", ", ",
)  # fmt: skip

_OF_TEXT = " \t,:"  #: separators that programs write, too
_VALUE = re.compile(r"\d{1,30}(?:[.,](?:\d{2}|\d{6}))?", re.ASCII)
_WHOLE = re.compile(r"\d{1,3}[.,]\d\d", re.ASCII)
_PERCENT = re.compile(r"\d{1,5}[.,]\d{2}", re.ASCII)
_SPREAD = re.compile(r"(\d{1,12}[.,]\d{2})%", re.ASCII)
_RUNNING = re.compile(r"\d{1,20}", re.ASCII)
_SECONDS = re.compile(r" *\d{1,12}\.\d{9}", re.ASCII)
_CPU = re.compile(r"CPU-?\d+", re.ASCII)
_GROUP = re.compile(r"(?:[SN]-?\d+)(?:-[A-Z]{1,4}-?\d+)*|(?:S\d+-)?D\d+(?:-[A-Z]{1,4}\d+)*", re.ASCII)
_THREAD_NUMBER = re.compile(r"\d{1,6}", re.ASCII)  #: of CPUs in a group
_THREAD = re.compile(r"\S.*-\d+", re.ASCII)
_UNIT = re.compile(r"[A-Za-z%/^]{0,12}", re.ASCII)
_MODIFIER = re.compile(r"[ukhGHpPSDIWeb]{1,8}", re.ASCII)
#: Every row has running_ns, a separator and a percentage.
_MAYBE_ROW = re.compile(r"\d[^\w.<>]{1,2}\d{1,5}[.,]\d\d(?!\d)", re.ASCII)
MAX_LINE = 10_000  #: no row is as long
_HALVES = re.compile(r"\d{1,3}", re.ASCII), re.compile(r"\d\d", re.ASCII)


def separators_of(line: str) -> list[str]:
    """The separators with which this line is a row."""
    if len(line) > MAX_LINE or not _MAYBE_ROW.search(line):
        return []
    found = [sep for sep in SEPARATORS if sep in line and _fields(line, sep)]
    return [sep for sep in found if not any(sep != other and sep in other for other in found)]


def parse_separated(owner: str, number: int, line: str, separator: str) -> PerfCount | None:
    """The row of a line; None for a line of metrics and for lines of the program.

    Raises:
        TesseraError: the row has decimal commas between commas.
    """
    fields = _fields(line, separator)
    if fields is None:
        if "," in separator and _has_decimal_commas(line, separator):
            found = f"'{shown(line)}' has decimal commas between commas: it was recorded in another locale"
            raise malformed(owner, number, found, AGAIN)
        return None
    return PerfCount(line=number, **fields)


def refuse_near(owner: str, number: int, line: str, separator: str, events: Collection[str]) -> None:
    """Refuse a line that is no row, but has the begin, the end or the event of one.

    Such a line is a damaged row, a cut one, or one behind output of the program without a line end. Lines of
    metrics have none of the three.

    Raises:
        TesseraError: it is so.
    """
    if len(line) > MAX_LINE:
        return
    words = [word.strip() for word in _split(line, separator)]
    found = _head(words)
    at = found[2] if found else 0
    if not (
        (len(words) > 3 and any(word in events for word in words))
        or _begins(words[at:], separator)
        or (_SECONDS.fullmatch(words[0]) and len(words) > 1 and words[at : at + 1] != [""])
        or _ends(words, at, separator)
        or any(word in line for word in WORDS)
    ):
        return
    raise malformed(
        owner,
        number,
        f"'{shown(line)}' resembles a row of `perf stat -x{separator}`: it is damaged or cut, or output of"
        " the program is on its line",
        "write perf's rows to a file of their own: " + AGAIN,
    )


def _begins(words: list[str], separator: str) -> bool:
    """``value, unit, event``; between usual characters of text only with a unit of perf or none."""
    if len(words) < 3 or not _is_value(words[0]) or not re.match("[A-Za-z]", words[2]):
        return False
    return words[1] in ("", "msec", "ns", "Joules") or (
        separator not in _OF_TEXT and bool(_UNIT.fullmatch(words[1]))
    )


def _ends(words: list[str], at: int, separator: str) -> bool:
    """``running_ns, percent`` behind an event, or behind a value; groups of metrics have neither."""
    if separator in _OF_TEXT and len(words) < 5:
        return False
    valued = at < len(words) and _is_value(words[at]) and separator not in _OF_TEXT
    named = [bool(re.search("[A-Za-z]", word)) for word in words]
    return any(
        _RUNNING.fullmatch(words[n]) and _WHOLE.fullmatch(words[n + 1]) and (valued or any(named[:n]))
        for n in range(1, len(words) - 1)
    )


def _head(words: list[str]) -> tuple[dict, str, int] | None:
    """(time or mark of a summary, part, place of the value); None for another form."""
    at, mark, part = 0, {}, ""
    if _SECONDS.fullmatch(words[0]) and len(words) > 5:
        mark, at = {"seconds": Decimal(words[0].strip())}, 1
    elif words[0].strip() == "summary":
        mark, at = {"summary": True}, 1
    if at < len(words) and not _is_value(words[at]) and words[at].strip():
        part = words[at].strip()
        if not any(form.fullmatch(part) for form in (_CPU, _GROUP, _THREAD)):
            return None
        grouped = _GROUP.fullmatch(part) is not None
        if grouped and not (len(words) > at + 1 and _THREAD_NUMBER.fullmatch(words[at + 1].strip())):
            return None
        at += 2 if grouped else 1
    return (mark, part, at) if at < len(words) else None


def _fields(line: str, separator: str) -> dict | None:
    """Fields of :class:`PerfCount`; None for a line that is no row."""
    words = _split(line, separator) if len(line) <= MAX_LINE else []
    head = _head(words) if len(words) > 4 else None
    if head is None:
        return None
    mark, part, at = head
    value = words[at].strip()
    if not _is_value(value) or len(words) < at + 4 or not _UNIT.fullmatch(words[at + 1].strip()):
        return None
    event, rest = _event(words[at + 2 :], separator)
    if not event or not re.search("[A-Za-z]", event) or not event.isprintable():
        return None
    cgroup, spread = "", None
    if separator == ":" and rest and _MODIFIER.fullmatch(rest[0]):
        event, rest = f"{event}:{rest[0]}", rest[1:]
    if len(rest) > 2 and not _RUNNING.fullmatch(rest[0].strip()) and not _is_spread(rest, separator):
        cgroup, rest = rest[0].strip(), rest[1:]
    if _is_spread(rest, separator):
        spread = Decimal(rest[0].strip().rstrip("%").replace(",", "."))
        rest = rest[2:] if separator == "%" else rest[1:]
    if len(rest) < 2:
        return None
    running, percent = rest[0].strip(), rest[1].strip()
    if not _RUNNING.fullmatch(running) or not _PERCENT.fullmatch(percent):
        return None
    missing = WORDS.get(value, "")
    if {",", "."} <= {c for text in (value, percent) for c in text}:
        return None
    return mark | {
        "event": event,
        "value": None if missing else Decimal(value.replace(",", ".")),
        "missing": missing,
        "unit": words[at + 1].strip(),
        "running_ns": int(running),
        "percent": Decimal(percent.replace(",", ".")),
        "spread_percent": spread,
        "part": part,
        "cgroup": cgroup,
    }


def _is_spread(rest: list[str], separator: str) -> bool:
    """Whether the first field is ``3.17%``; with ``-x%`` its sign splits it from an empty field."""
    if separator == "%":
        return len(rest) > 3 and rest[1] == "" and _PERCENT.fullmatch(rest[0].strip()) is not None
    return bool(rest) and _SPREAD.fullmatch(rest[0].strip()) is not None


def _has_decimal_commas(line: str, separator: str) -> bool:
    """``100,00`` as the two last of at least four fields, after a whole number."""
    words = [word.strip() for word in line.split(separator)]
    triples = zip(words[3:], words[4:], words[5:], strict=False)
    return any(
        _RUNNING.fullmatch(one) and _HALVES[0].fullmatch(two) and _HALVES[1].fullmatch(three)
        for one, two, three in triples
    )


def _split(line: str, separator: str) -> list[str]:
    """Fields. Between blanks, the words of perf and the column of a time have blanks of their own."""
    if separator == " ":
        line = line.lstrip()
        for word in WORDS:
            line = line.replace(word, word.replace(" ", "-"))
    return line.split(separator)


def _is_value(text: str) -> bool:
    return text.strip() in WORDS or _VALUE.fullmatch(text.strip()) is not None


def _event(words: list[str], separator: str) -> tuple[str, list[str]]:
    """The event, put together up to its closing slash, and the fields behind it."""
    for end in range(1, len(words) + 1):
        event = separator.join(words[:end])
        if event.count("/") % 2 == 0:
            return event.strip(), words[end:]
    return words[0].strip(), words[1:]


# Rows of ``perf stat -j`` (perf 6.0 and later): one JSON object a line.
#
# Four keys are read: ``counter-value``, ``event``, ``event-runtime`` and ``pcnt-running``; beside them
# ``unit``, ``interval``, ``variance``, ``cgroup`` and the names of parts. All others differ between versions
# and are ignored. In languages with decimal commas perf writes ``"pcnt-running" : 100,00``, which is no
# JSON. Perf quotes each key, so a comma between two digits is such a comma.

#: Keys that say whose count it is, if not the program's.
PARTS = ("socket", "die", "cluster", "cache", "core", "node", "cpu", "thread")
#: perf writes counts with six decimals, percentages with two and times with nine.
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,12})?", re.ASCII)
_COUNT = re.compile(r"\d{1,30}\.\d{6}", re.ASCII)
_COMMA = re.compile(r"(?<=: )(\"?)(\d+),(\d+)\1(?=\s*[,}])", re.ASCII)
#: A line with one of these words is perf's, or is refused.
_COUNT_WORDS = ("counter-value", "event-runtime", "pcnt-running")


def begins_json(line: str) -> bool:
    """Whether the line has the object of a count."""
    return '"counter-value"' in line and "{" in line


def parse_json(owner: str, number: int, line: str) -> PerfCount | None:
    """The row of a line; None for metrics of perf and for lines of the program.

    Output of the program may stand before the object, if it ended without a line end.

    Raises:
        TesseraError: the line has a key of a count, but is no JSON object or lacks one of the four keys.
    """
    place = min((line.find(word) for word in _COUNT_WORDS if word in line), default=None)
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
    return PerfCount(
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
