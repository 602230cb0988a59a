"""Kinds of values in the files of a bundle, each with one way to write it.

A number has no sign, no leading zero and no exponent, so that a file has one form only and a changed digit is
a changed value. Texts are printable and short.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

LARGEST = 2**53 - 1  #: doubles in tables hold whole numbers up to here
LONGEST_TEXT = 2000
_WHOLE = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)
_HEX = re.compile(r"0x(0|[1-9a-f][0-9a-f]{0,15})", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,100}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True)
class Kind:
    """``read`` raises ValueError for a text that is not of this kind; ``rule`` is for people."""

    rule: str
    read: Callable[[str], object]
    write: Callable[[object], str] = str


def _matching(pattern: re.Pattern, turn: Callable[[str], object] = str) -> Callable[[str], object]:
    def read(text: str) -> object:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return turn(text)

    return read


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text) or (value := int(text)) > LARGEST:
        raise ValueError(text)
    return value


def _text(text: str) -> str:
    if len(text) > LONGEST_TEXT or not text.isprintable():
        raise ValueError(text)
    return text


WHOLE = Kind("a whole number from 0 to 2^53 - 1, without sign or leading zero", _whole)
_HEX_RULE = "a hexadecimal number: 0x, lower-case digits, no leading zero"
HEX = Kind(_HEX_RULE, _matching(_HEX, lambda text: int(text, 16)), hex)
NAME = Kind("a name of letters, digits and _.:-", _matching(_NAME))
SHA256 = Kind("a SHA-256 of 64 lower-case hexadecimal digits", _matching(_SHA256))
TEXT = Kind(f"printable text of at most {LONGEST_TEXT} characters", _text)


def one_of(*names: str) -> Kind:
    """One of these words."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return Kind(f"one of: {', '.join(names)}", read)


def maybe(kind: Kind) -> Kind:
    """The kind, or nothing (None)."""
    return Kind(
        f"empty, or {kind.rule}",
        lambda text: None if text == "" else kind.read(text),
        lambda value: "" if value is None else kind.write(value),
    )


def matching(pattern: str, rule: str) -> Kind:
    """Text that matches a pattern completely."""
    return Kind(rule, _matching(re.compile(pattern, re.ASCII)))
