"""The format of a bundle's files: names, kinds of values, largest sizes, the error.

See docs/reference/bundle-format.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import KB, MB

# The error of a bundle that is not what docs/reference/bundle-format.md describes.

REMEDY = "measure again, or get the bundle again from its owner; format: docs/reference/bundle-format.md"


def wrong(place: str, found: str, code: str, remedy: str = REMEDY) -> TesseraError:
    """An error about a file of a bundle; ``code`` begins with ``bundle-``."""
    return TesseraError(f"bundle, {place}", found, remedy, exit_code=EXIT_FAILED, code=f"bundle-{code}")


def shown(text: object) -> str:
    """A value in a message: printable and short."""
    found = repr(text[:80] if isinstance(text, str) else text)
    return found if len(found) <= 80 else f"{found[:76]}...'"


# Names of the files of a bundle (docs/reference/bundle-format.md).

ABOUT_FILE = "bundle.json"
MACHINE_FILE = "machine.json"
ENVIRONMENT_FILE = "environment.csv"
EVENTS_FILE = "events.csv"
RUNS_FILE = "runs.csv"
COUNTS_FILE = "counts.csv"  #: while measuring: append only
PACKED_FILE = "counts.csv.gz"  #: in a sealed bundle
CELLS_FILE = "cells.csv"
WORKLOADS_FILE = "workloads.json"
SUMS_FILE = "SHA256SUMS"
LAYOUTS_FOLDER = "layouts"

#: A noted row of environment.csv: which misses the sliding windows follow, measured or simulated.
SLIDING_WINDOWS = "sliding-windows"

#: Files of every sealed bundle; the others are ``layouts/<workload>/<layout>.csv``.
SEALED_FILES = (
    ABOUT_FILE,
    MACHINE_FILE,
    ENVIRONMENT_FILE,
    EVENTS_FILE,
    RUNS_FILE,
    PACKED_FILE,
    CELLS_FILE,
    WORKLOADS_FILE,
    SUMS_FILE,
)
#: Files of a folder in which runs are still measured.
OPEN_FILES = (ABOUT_FILE, MACHINE_FILE, ENVIRONMENT_FILE, EVENTS_FILE, RUNS_FILE, COUNTS_FILE, WORKLOADS_FILE)


def layout_file(workload: str, layout: str) -> str:
    """The place of a layout, relative to the bundle."""
    return f"{LAYOUTS_FOLDER}/{workload}/{layout}.csv"


# Kinds of values in the files of a bundle, each with one way to write it.
#
# A number has no sign, no leading zero and no exponent, so that a file has one form only and a changed digit
# is a changed value. Texts are printable and short.

LARGEST_NUMBER = 2**53 - 1  #: doubles in tables hold whole numbers up to here
LONGEST_TEXT = 2000
_WHOLE = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)
_HEX = re.compile(r"0x(0|[1-9a-f][0-9a-f]{0,15})", re.ASCII)
#: A name is a name of a folder or a file, too: it is not ``..``, and not hidden.
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}"
_NAME = re.compile(NAME_PATTERN, re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FORMULA = ("=", "+", "-", "@")
_SIGNED = re.compile(r"[+-][0-9]+(\.[0-9]+)?", re.ASCII)


@dataclass(frozen=True)
class FieldFormat:
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
    if not _WHOLE.fullmatch(text) or (value := int(text)) > LARGEST_NUMBER:
        raise ValueError(text)
    return value


def _text(text: str) -> str:
    if len(text) > LONGEST_TEXT or not text.isprintable() or is_formula(text):
        raise ValueError(text)
    return text


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would take the cell for a formula. Numbers with a sign are none."""
    return text.startswith(_FORMULA) and not _SIGNED.fullmatch(text)


WHOLE = FieldFormat("a whole number from 0 to 2^53 - 1, without sign or leading zero", _whole)
_HEX_RULE = "a hexadecimal number: 0x, lower-case digits, no leading zero"
HEX = FieldFormat(_HEX_RULE, _matching(_HEX, lambda text: int(text, 16)), hex)
NAME = FieldFormat("a name of letters, digits and _.:- that begins with a letter or digit", _matching(_NAME))
SHA256 = FieldFormat("a SHA-256 of 64 lower-case hexadecimal digits", _matching(_SHA256))
TEXT = FieldFormat(
    f"printable text of at most {LONGEST_TEXT} characters that begins with none of {' '.join(_FORMULA)},"
    " or a number",
    _text,
)


def one_of(*names: str) -> FieldFormat:
    """One of these words."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return FieldFormat(f"one of: {', '.join(names)}", read)


def maybe(kind: FieldFormat) -> FieldFormat:
    """The kind, or nothing (None)."""
    return FieldFormat(
        f"empty, or {kind.rule}",
        lambda text: None if text == "" else kind.read(text),
        lambda value: "" if value is None else kind.write(value),
    )


# The largest bundle that is read.
#
# The numbers follow from the largest campaign of ``./run measure`` that may decide claims: 19 workloads
# under 55 layouts in 20 rounds, with all optional passes. Broadwell has the most counts: 6 runs and 78
# counts of a layout in a round. This gives 1,045 layouts, 125,400 runs and 1,630,200 counts. A count takes
# 46 bytes, 10 when packed, and a run 70 bytes. (With SMT, which bars a bundle, a round has up to 11 runs and
# 118 counts.)

MOST_RUNS = 130_000  #: rows of runs.csv
MOST_COUNTS = 1_650_000  #: rows of counts.csv
MOST_EVENTS = 1_000  #: rows of events.csv; the largest class has 118
MOST_PASSES = 100  #: the largest class has 11
MOST_CONDITIONS = 500  #: rows of environment.csv; a bundle has about 30
MOST_ENTRIES = 4_000  #: files and folders; 55 layouts of 72 workloads
MOST_MESSAGES = MOST_ENTRIES  #: of runs: a layout ends with its first run that is not ok
MOST_DEPTH = 3  #: parts of the longest name: layouts/<workload>/<layout>.csv

MOST_ZIP_BYTES = 64 * MB
MOST_TOTAL_BYTES = 64 * MB  #: all files, with packed counts
MOST_UNPACKED_BYTES = 112 * MB  #: counts.csv
MOST_LAYOUTS_BYTES = 8 * MB  #: all layouts; a window takes about 35 bytes
MOST_SMALL_BYTES = 1 * MB  #: files without a limit of their own
MOST_FILE_BYTES = {
    RUNS_FILE: 32 * MB,
    PACKED_FILE: 32 * MB,
    COUNTS_FILE: MOST_UNPACKED_BYTES,
    CELLS_FILE: 4 * MB,
}
MOST_RATIO, RATIO_FROM_BYTES = 100, 64 * KB  #: largest file over its packed form, beyond a first part

MOST_PROBLEMS = 10_000  #: problems of one check that are counted


class Budget:
    """Adds up the files of a bundle, and refuses those beyond the limits (``bundle-size``)."""

    def __init__(self):
        self.entries = self.total = self.layouts = 0

    def entry(self, name: str) -> None:
        """A file or a folder."""
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise too_large(shown(name), f"more than {MOST_ENTRIES} files and folders")

    def file(self, name: str, inside: str, size: int, packed: int | None = None) -> None:
        """A file; ``inside``: its name in the bundle; ``size``: bytes; ``packed``: in a zip file."""
        most = MOST_FILE_BYTES.get(inside, MOST_SMALL_BYTES)
        if size > most:
            raise too_large(shown(name), f"{size} bytes; this file has at most {most}")
        if packed is not None and size > MOST_RATIO * packed + RATIO_FROM_BYTES:
            raise too_large(shown(name), f"{size} bytes of {packed}: more than {MOST_RATIO} times as many")
        self.total += size if inside != COUNTS_FILE else 0  # those have a limit of their own
        if self.total > MOST_TOTAL_BYTES:
            raise too_large(shown(name), f"all files have more than {MOST_TOTAL_BYTES} bytes")
        if inside.startswith(f"{LAYOUTS_FOLDER}/"):
            self.layouts += size
            if self.layouts > MOST_LAYOUTS_BYTES:
                raise too_large(shown(name), f"all layouts have more than {MOST_LAYOUTS_BYTES} bytes")


def too_large(place: str, found: str) -> TesseraError:
    """The error of a bundle that no campaign makes."""
    remedy = "get the bundle again from its owner; divide a larger campaign by workloads"
    return wrong(place, found, "size", remedy)
