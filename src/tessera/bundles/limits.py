"""The largest bundle that is read.

The numbers follow from the largest campaign of ``./run measure`` that may decide claims: 19 workloads under
55 layouts in 20 rounds, with all optional passes. Broadwell has the most counts: 6 runs and 78 counts of a
layout in a round. This gives 1,045 layouts, 125,400 runs and 1,630,200 counts. A count takes 46 bytes, 10
when packed, and a run 70 bytes. (With SMT, which bars a bundle, a round has up to 11 runs and 118 counts.)
"""

from __future__ import annotations

from tessera.bundles import names
from tessera.bundles.wrong import shown, wrong
from tessera.core.errors import TesseraError
from tessera.core.units import KB, MB

RUNS = 130_000  #: rows of runs.csv
COUNTS = 1_650_000  #: rows of counts.csv
EVENTS = 1_000  #: rows of events.csv; the largest class has 118
PASSES = 100  #: the largest class has 11
CONDITIONS = 500  #: rows of environment.csv; a bundle has about 30
ENTRIES = 4_000  #: files and folders; 55 layouts of 72 workloads
DEPTH = 3  #: parts of the longest name: layouts/<workload>/<layout>.csv

ZIP = 64 * MB
TOTAL = 64 * MB  #: all files, with packed counts
UNPACKED = 112 * MB  #: counts.csv
LAYOUTS = 8 * MB  #: all layouts; a window takes about 35 bytes
SMALL = 1 * MB  #: files without a limit of their own
FILES = {names.RUNS: 32 * MB, names.PACKED: 32 * MB, names.COUNTS: UNPACKED, names.CELLS: 4 * MB}
RATIO, RATIO_FROM = 100, 64 * KB  #: largest file over its packed form, beyond a first part

MOST_PROBLEMS = 10_000  #: problems of one check that are counted
NESTED = 8  #: levels of a JSON file; machine.json has three


class Budget:
    """Adds up the files of a bundle, and refuses those beyond the limits (``bundle-size``)."""

    def __init__(self):
        self.entries = self.total = self.layouts = 0

    def entry(self, name: str) -> None:
        """A file or a folder."""
        self.entries += 1
        if self.entries > ENTRIES:
            raise too_large(shown(name), f"more than {ENTRIES} files and folders")

    def file(self, name: str, inside: str, size: int, packed: int | None = None) -> None:
        """A file; ``inside``: its name in the bundle; ``size``: bytes; ``packed``: in a zip file."""
        most = FILES.get(inside, SMALL)
        if size > most:
            raise too_large(shown(name), f"{size} bytes; this file has at most {most}")
        if packed is not None and size > RATIO * packed + RATIO_FROM:
            raise too_large(shown(name), f"{size} bytes of {packed}: more than {RATIO} times as many")
        self.total += size if inside != names.COUNTS else 0  # those have a limit of their own
        if self.total > TOTAL:
            raise too_large(shown(name), f"all files have more than {TOTAL} bytes")
        if inside.startswith(f"{names.LAYOUTS}/"):
            self.layouts += size
            if self.layouts > LAYOUTS:
                raise too_large(shown(name), f"all layouts have more than {LAYOUTS} bytes")


def too_large(place: str, found: str) -> TesseraError:
    """The error of a bundle that no campaign makes."""
    remedy = "get the bundle again from its owner; divide a larger campaign by workloads"
    return wrong(place, found, "size", remedy)
