"""Counters of a pool map by the header's names: ``split_pages``, ``unsplit_by[1]``, ``children.forks``."""

from __future__ import annotations

import re
import struct
from pathlib import Path

HEADER = Path(__file__).parents[2] / "include/mosalloc/pool_map.h"
_FIELD = re.compile(r"^ +(?:(uint64_t)|struct (\w+)|(char)) (\w+)(?:\[(.+?)\])?;", re.M)


def _constants(text: str) -> dict[str, int]:
    """Numbers that the header defines, and those of its enumerations that the array sizes use."""
    found = {name: int(value) for name, value in re.findall(r"^#define (\w+) (\d+)\b", text, re.M)}
    for body in re.findall(r"^enum \w+ \{(.*?)^\};", text, re.M | re.S):
        names = re.findall(r"^ +(\w+)(?: = (\d+))?,?", body, re.M)
        value = -1
        for name, given in names:
            value = int(given) if given else value + 1
            found[name] = value
    return found


def fields(text: str | None = None) -> list[str | int]:
    """The map in order: the name of each 64-bit word, or the number of bytes of a text in between."""
    text = HEADER.read_text() if text is None else text
    constants = _constants(text)
    bodies = dict(re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.M | re.S))

    def size(words: str) -> int:
        return sum(
            int(part) if part.strip().isdigit() else constants[part.strip()] for part in words.split("+")
        )

    def expand(body: str, prefix: str) -> list[str | int]:
        names: list[str | int] = []
        for word, nested, char, name, length in _FIELD.findall(body):
            if char:
                names.append(size(length))
                continue
            if nested == "mosalloc_window":
                break  # the table at the end
            count = size(length) if length else 1
            for index in range(count):
                full = f"{prefix}{name}[{index}]" if length else f"{prefix}{name}"
                names += [full] if word else expand(bodies[nested], f"{full}.")
        return names

    return expand(bodies["mosalloc_pool_map"], "")


def read(path: Path, names: list[str | int]) -> dict[str, int]:
    """All counters of one map; empty if the library never wrote it."""
    found: dict[str, int] = {}
    at, data = 0, path.read_bytes()[:65536]
    for name in names:
        if isinstance(name, int):
            at += name
            continue
        if at + 8 > len(data):
            return {}
        (found[name],) = struct.unpack_from("<Q", data, at)
        at += 8
    return found if found["magic"] else {}
