"""The JSON files of a bundle: exactly the declared keys, each value of its kind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict

from tessera.core.errors import TesseraError
from tessera.machine.counters.passes import MODES
from tessera.measure.bundles import file_format
from tessera.measure.bundles.bundle import About, MeasuredMachine, MeasuredWorkload
from tessera.measure.bundles.file_format import (
    HEX,
    LARGEST_NUMBER,
    NAME,
    SHA256,
    TEXT,
    FieldFormat,
    matching,
    one_of,
    shown,
    wrong,
)

SCHEMA = 1
REGIONS = ("roi", "program", "whole")
COUNTERS = ("launcher", "perf")
Check = Callable[[object], bool]

_BRACKET = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*+"?', re.DOTALL)  #: or a text, with what is in it
_DAY = matching(r"20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "a day: YYYY-MM-DD")
_MACHINE_ID = matching(r"[0-9a-f]{32}", "32 hexadecimal digits")


def _word(kind: FieldFormat) -> tuple[str, Check]:
    def check(value: object) -> bool:
        try:
            return isinstance(value, str) and kind.read(value) is not None
        except ValueError:
            return False

    return kind.rule, check


def _number(low: int, high: int = LARGEST_NUMBER) -> tuple[str, Check]:
    rule = f"a whole number from {low} to {high}"
    return rule, lambda value: type(value) is int and low <= value <= high


def _listed(rule: str, check: Check) -> tuple[str, Check]:
    return f"a list; each entry is {rule}", lambda value: isinstance(value, list) and all(map(check, value))


def _leaf(value: object) -> bool:
    register = _word(HEX)[1]
    small = isinstance(value, list) and len(value) == 6 and all(map(register, value))
    return small and all(int(part, 16) < 1 << 32 for part in value)


def _texts(value: object) -> bool:
    name, text = _word(matching(r"[a-z0-9_]{1,60}", ""))[1], _word(TEXT)[1]
    return isinstance(value, dict) and all(name(key) and said and text(said) for key, said in value.items())


_TRUTH = ("true or false", lambda value: isinstance(value, bool))
_ABOUT = {
    "schema": (
        f"{SCHEMA}, the only one that this version reads",
        lambda value: type(value) is int and value == SCHEMA,
    ),
    "protocol": _word(NAME),
    "protocol_sha256": _word(SHA256),
    "region": _word(one_of(*REGIONS)),
    "mode": _word(one_of(*MODES)),
    "counter": _word(one_of(*COUNTERS)),
    "rehearsal": _TRUTH,
    "class": _word(NAME),
    "platform": _word(NAME),
    "created": _word(_DAY),
}
_MACHINE = {
    "vendor": _word(matching(r"[A-Za-z ]{1,12}", "a vendor of CPUID")),
    "family": _number(0, 0xFFF),
    "model": _number(0, 0xFFF),
    "stepping": _number(0, 0xF),
    "microcode": _word(HEX),
    "cpuid": _listed("six hexadecimal texts below 2^32: leaf, subleaf, eax, ebx, ecx, edx", _leaf),
    "sockets": _number(1, 1024),
    "cores": _number(1, 1 << 16),
    "threads": _number(1, 1 << 16),
    "memory_bytes": _number(1),
    "kernel": _word(matching(r"[0-9][A-Za-z0-9_.+~-]{0,99}", "a release as uname -r prints it")),
    "mitigations": ("an object of names and texts", _texts),
    "machine_id": _word(_MACHINE_ID),
}
_WORKLOAD = {
    "size": _word(NAME),
    "arguments": _listed("text that is not empty", lambda value: bool(value) and _word(TEXT)[1](value)),
    "program_sha256": _word(SHA256),
    "verified": _TRUTH,
}


def read_about(data: bytes) -> About:
    """``bundle.json``; TesseraError if a key is unknown or missing, or a value is not of its kind."""
    found = _checked(file_format.ABOUT_FILE, _object(file_format.ABOUT_FILE, data), _ABOUT)
    return About(**{"class_name" if key == "class" else key: value for key, value in found.items()})


def about_text(about: About) -> str:
    found = {"class" if key == "class_name" else key: value for key, value in asdict(about).items()}
    return _text(file_format.ABOUT_FILE, found, read_about)


def read_machine(data: bytes) -> MeasuredMachine:
    """``machine.json``; TesseraError as :func:`read_about`."""
    found = _checked(file_format.MACHINE_FILE, _object(file_format.MACHINE_FILE, data), _MACHINE)
    leaves = tuple(tuple(int(part, 16) for part in leaf) for leaf in found["cpuid"])
    return MeasuredMachine(**found | {"cpuid": leaves})


def machine_text(machine: MeasuredMachine) -> str:
    found = asdict(machine) | {"cpuid": [[hex(part) for part in leaf] for leaf in machine.cpuid]}
    return _text(file_format.MACHINE_FILE, found, read_machine)


def read_workloads(data: bytes) -> dict[str, MeasuredWorkload]:
    """``workloads.json``; TesseraError as :func:`read_about`."""
    found = {}
    for name, entry in _object(file_format.WORKLOADS_FILE, data).items():
        place = f"{file_format.WORKLOADS_FILE}, {shown(name)}"
        if not _word(NAME)[1](name):
            raise wrong(place, f"it must be {NAME.rule}", "value")
        if not isinstance(entry, dict):
            raise wrong(place, "it must be an object", "value")
        values = _checked(place, entry, _WORKLOAD)
        found[name] = MeasuredWorkload(name, **values | {"arguments": tuple(values["arguments"])})
    return found


def workloads_text(workloads: dict[str, MeasuredWorkload]) -> str:
    found = {}
    for name, one in workloads.items():
        found[name] = {key: value for key, value in asdict(one).items() if key != "name"}
        found[name]["arguments"] = list(one.arguments)
    return _text(file_format.WORKLOADS_FILE, found, read_workloads)


def _text(file: str, found: dict, read: Callable) -> str:
    text = json.dumps(found, indent=1, ensure_ascii=True) + "\n"
    read(text.encode())
    return text


def _checked(place: str, found: dict, wanted: dict[str, tuple[str, Check]]) -> dict:
    if unknown := sorted(set(found) - set(wanted)):
        raise wrong(place, f"unknown key {shown(unknown[0])}; known: {', '.join(wanted)}", "key")
    if missing := [key for key in wanted if key not in found]:
        raise wrong(place, f"key {missing[0]} is missing", "key")
    for key, (rule, check) in wanted.items():
        if not check(found[key]):
            raise wrong(f"{place}, {key}", f"{shown(found[key])}; it must be {rule}", "value")
    return found


def _object(file: str, data: bytes) -> dict:
    """A JSON object; keys that stand twice, NaN and numbers with a fraction are errors.

    So are files that are larger or more deeply nested than any of a bundle
    (:mod:`tessera.measure.bundles.file_format`).
    """

    def once(pairs: list[tuple[str, object]]) -> dict:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))
            raise wrong(file, f"key {shown(twice)} stands twice", "key")
        return found

    def refuse(number: str) -> object:
        raise wrong(file, f"{shown(number)} is not a whole number", "value")

    def whole(number: str) -> int:
        return int(number) if re.fullmatch(r"-?[0-9]{1,20}", number) else refuse(number)

    if len(data) > file_format.MOST_SMALL_BYTES:
        raise file_format.too_large(
            file, f"{len(data)} bytes; this file has at most {file_format.MOST_SMALL_BYTES}"
        )
    try:
        text = data.decode("utf-8")
        if _depth(text) > file_format.MOST_NESTED:
            raise wrong(file, f"more than {file_format.MOST_NESTED} levels of lists and objects", "json")
        found = json.loads(
            text, object_pairs_hook=once, parse_constant=refuse, parse_float=refuse,
            parse_int=whole,
        )  # fmt: skip
    except TesseraError:
        raise
    except (ValueError, RecursionError) as error:  # not UTF-8, or not JSON
        raise wrong(file, f"not JSON in UTF-8: {error}", "json") from None
    if not isinstance(found, dict):
        raise wrong(file, f"{shown(found)}; it must be an object", "value")
    return found


def _depth(text: str) -> int:
    """The most brackets that are open at once, outside of texts."""
    level = most = 0
    for found in _BRACKET.finditer(text):
        if found.group() in "[{":
            level += 1
            most = max(most, level)
        elif found.group() in "]}":
            level -= 1
    return most
