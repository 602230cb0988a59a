"""The text of ``perf script`` as samples: every line is one, but empty lines and those with ``#``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.counters.perf.text import read_text
from tessera.mosalloc.samples.line import FIELDS, Sample, parse_line

_AGAIN = f"perf script -i perf.data -F {FIELDS},data_src > samples.txt"


def parse_lines(lines: Iterable[str], owner: str = "perf script") -> Iterator[Sample]:
    """Samples of lines, in their order.

    Raises:
        TesseraError: as :func:`tessera.mosalloc.samples.line.parse_line`.
    """
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\r\n")
        if line.strip() and not line.startswith("#"):
            yield parse_line(owner, number, line)


def read_samples(path: Path | str) -> list[Sample]:
    """Samples of a file; at least one.

    Raises:
        TesseraError: the file can't be read, is perf's own format or no text, has a line of another form
            (code ``samples-row``), or has no sample (code ``samples-empty``).
    """
    owner = f"samples {path}"
    text = read_text(path, owner, _AGAIN, "samples-row")
    found = list(parse_lines(text.split("\n"), owner))
    if not found:
        raise TesseraError(owner, "it has no sample", _AGAIN, code="samples-empty")
    return found
