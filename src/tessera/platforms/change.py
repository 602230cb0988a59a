"""A platform with some values changed: by a configuration (key ``changes``), or for a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tessera.core.errors import TesseraError, unknown_name
from tessera.platforms.keys import all_keys
from tessera.platforms.model import Platform, Value

#: source of a value that a configuration sets
BY_CONFIGURATION = "assumed: set by the key `changes` of the configuration"


def parse(texts: Iterable[str]) -> dict[str, int | str]:
    """``key=value`` of each text; digits are a number.

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
                "write, for example: --change walker.begin_cycles=22",
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
