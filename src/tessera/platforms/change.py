"""A platform with some values changed: by a configuration (key ``changes``), by ``--set``, or for a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tessera.core.errors import TesseraError, unknown_name
from tessera.platforms.keys import all_keys, own_key
from tessera.platforms.model import Platform, Value

#: source of a value that a configuration sets
BY_CONFIGURATION = "assumed: set by the key `changes` of the configuration"
#: source of a value that ``tessera simulate --set`` sets
BY_COMMAND = "assumed: set by --set on the command line"


def parse(texts: Iterable[str], option: str = "--change") -> dict[str, int | str]:
    """``key=value`` of each text that ``option`` gave; digits are a number.

    Raises:
        TesseraError: no ``=``, an empty key or value, or a key given twice.
    """
    found: dict[str, int | str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not (key and separator and value):
            raise TesseraError(
                f"change '{text}'",
                "this is not key=value",
                f"write, for example: {option} walker.begin_cycles=22",
            )
        if key in found:
            raise TesseraError(f"change '{text}'", f"{key} is changed twice", "keep one of them")
        found[key] = int(value) if value.isascii() and value.isdigit() else value
    return found


def changed(platform: Platform, changes: Mapping[str, int | str]) -> Platform:
    """``platform`` with the ``changes`` of a configuration; each value obeys the bounds of its key.

    Raises:
        TesseraError: a key that the platform does not have, or a value that breaks the rule of its key.
    """
    known = all_keys()
    for key, value in changes.items():
        fault = known[key].rule_broken_by(value) if key in known else None
        if fault:
            asked = f"change of platform {platform.name}, key {key}"
            raise TesseraError(asked, fault, "correct the key `changes` of the configuration")
    return with_values(platform, changes, BY_CONFIGURATION)


def set_values(platform: Platform, changes: Mapping[str, int | str], option: str = "--set") -> Platform:
    """``platform`` with the ``changes`` of ``option``; each value obeys the bounds of its key.

    Unlike :func:`changed`, a change may name a key of a component that the platform's file does not have.

    Raises:
        TesseraError: no such key, or a value that breaks its rule.
    """
    known = all_keys()
    for key, value in changes.items():
        row = known.get(key) or own_key(key)
        if row is None:
            raise unknown_name(f"parameter of {platform.name}", key, list({**platform.values, **known}))
        if fault := row.rule_broken_by(value):
            asked = f"{option} {key}={value} on platform {platform.name}"
            raise TesseraError(asked, fault, "give another value; tessera-sim keys lists the bounds")
    new = {key: Value(value, BY_COMMAND) for key, value in changes.items()}
    return replace(platform, values=platform.values | new)


def with_values(platform: Platform, changes: Mapping[str, int | str], why: str) -> Platform:
    """``platform`` with ``changes``; each new value's source is ``why``.

    Raises:
        TesseraError: a key that the platform does not have.
    """
    if absent := sorted(set(changes) - set(platform.values)):
        raise unknown_name(f"parameter of {platform.name}", absent[0], list(platform.values))
    return replace(
        platform, values=platform.values | {key: Value(value, why) for key, value in changes.items()}
    )
