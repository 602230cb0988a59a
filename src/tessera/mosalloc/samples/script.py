"""The text of ``perf script`` as samples: every line is one, but empty lines and those with ``#``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.mosalloc.samples.line import FIELDS, Sample, parse_line

_AGAIN = f"perf script -i perf.data -F {FIELDS},data_src > samples.txt"
_PERF_DATA = b"PERFILE2"


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
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TesseraError(owner, error.strerror or str(error), "check the path") from None
    if data.startswith(_PERF_DATA):
        raise TesseraError(owner, "this is what perf record wrote, not its text", _AGAIN, code="samples-row")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TesseraError(owner, f"no UTF-8 at byte {error.start}", _AGAIN, code="samples-row") from None
    found = list(parse_lines(text.split("\n"), owner))
    if not found:
        raise TesseraError(owner, "it has no sample", _AGAIN, code="samples-empty")
    return found
