"""What a terminal shows: texts of files cannot move its cursor, reverse a line or hide a part of it.

:func:`escaped_streams` escapes all that a command prints, so no command has to think of it. Only colours and
bars of Tessera itself go to the stream below, :func:`unescaped`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

#: Control characters but tab and line end, marks of direction and of no width, variants, half characters:
#: those of ``artifacts/tracer/lib/printable.cpp``.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U000e0000-\U0010ffff]|\r(?!\n)"
)


def shown(text: str) -> str:
    r"""The text with each character that is not shown as an escape, such as ``\x1b`` or ``\u202e``."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class _Escaped:
    """A text stream that writes :func:`shown` texts to ``below``."""

    def __init__(self, below: TextIO):
        self.below = below

    def write(self, text: str) -> int:
        return self.below.write(shown(text))

    def writelines(self, lines: Iterable[str]) -> None:
        self.below.writelines(map(shown, lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


def unescaped(stream: TextIO) -> TextIO:
    """The stream below, for what Tessera itself writes to a terminal."""
    return stream.below if isinstance(stream, _Escaped) else stream


def escape_streams() -> None:
    """Escape standard error, and standard output if it is a terminal: in a file or pipe it has data."""
    sys.stderr = cast(TextIO, _Escaped(sys.stderr))
    if sys.stdout.isatty():
        sys.stdout = cast(TextIO, _Escaped(sys.stdout))


@contextmanager
def escaped_streams() -> Iterator[None]:
    """:func:`escape_streams` for the time of a block."""
    before = sys.stdout, sys.stderr
    escape_streams()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
