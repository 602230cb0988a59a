"""Debian's ``xalan`` (Xalan-C++), unmodified: an XSLT transformation of an auction site's document.

A size's args say how large the document is and where the recorded part begins:

- ``--factor F``: XMark's tables times F (:func:`.auction.scaled`); or ``--people``, ``--items``, ``--bids``
  and ``--categories``, each with its own count. ``--seed`` chooses among documents of one size.
- ``--begin tree``: xalan has built the tree of the document, and the transformation begins; it closes the
  document there. ``--begin output``: the first line of the report leaves xalan, all keys are built.
  ``--skip N``: after N data accesses. Without either, the program's beginning.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.record.workloads.debian.auction import XMARK, Auction, scaled
from tessera.record.workloads.debian.auction_report import STYLESHEET, report
from tessera.record.workloads.debian.options import counts
from tessera.record.workloads.model import Size, Workload
from tessera.record.workloads.run import WORKLOADS, Finished, Run

DOCUMENT, SHEET, OUTPUT = "auction.xml", "report.xsl", "report.txt"
_DEFAULTS = {"people": 1000, "items": 1000, "bids": 5000, "categories": 20, "seed": 1, "skip": 0}

#: Regions of interest that begin at an event of the program, by ``--begin``.
BEGINS = {"tree": f"closed:{DOCUMENT}", "output": f"written:{OUTPUT}"}


def prepare(workload: Workload, size: Size, folder: Path) -> Run:
    """Write document and stylesheet into ``folder``; the run writes the report there."""
    owner = f"{workload.name}, size {size.label}"
    words, rest = _words(owner, size.args)
    chosen = counts(owner, rest, _DEFAULTS | (_tables(owner, words["factor"]) if "factor" in words else {}))
    if "factor" in words and (both := [f"--{table}" for table in XMARK if f"--{table}" in rest]):
        raise TesseraError(
            f"{owner}: --factor and {', '.join(both)}", "the factor sets all tables", "give one of them only"
        )
    roi = _region(owner, words.get("begin"), chosen.pop("skip"))
    for table in ("people", "items", "categories"):
        if chosen[table] == 0:
            raise TesseraError(f"{owner}: --{table} 0", "the table must have a row", "give 1 or more")
    auction = Auction(**chosen)
    with (folder / DOCUMENT).open("w") as document:
        document.writelines(auction.document())
    (folder / SHEET).write_text(STYLESHEET)
    (folder / OUTPUT).unlink(missing_ok=True)
    files = [str(folder / name) for name in (DOCUMENT, SHEET, OUTPUT)]
    return Run(
        argv=(workload.executable, "-q", "-in", files[0], "-xsl", files[1], "-out", files[2]),
        paths=(folder,),
        folder=folder,
        image=WORKLOADS,
        roi=roi,
        verify=lambda done: _verified(workload.name, auction, done),
    )


def _words(owner: str, args: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The values of ``--factor`` and ``--begin``, and all other args."""
    found: dict[str, str] = {}
    rest: list[str] = []
    pairs = [list(args[i : i + 2]) for i in range(0, len(args), 2)]
    for pair in pairs:
        name = pair[0].removeprefix("--")
        if pair[0] not in ("--factor", "--begin") or len(pair) < 2:
            rest += pair
        elif name in found:
            raise TesseraError(f"{owner}: {pair[0]}", "this option is given twice", "give it once")
        else:
            found[name] = pair[1]
    return found, rest


def _tables(owner: str, factor: str) -> dict[str, int]:
    """Sizes of the tables at ``factor``."""
    try:
        number = Decimal(factor)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number <= 0:
        raise TesseraError(
            f"{owner}: --factor {factor}", "the factor must be a positive decimal number", "write it as 9.5"
        )
    return scaled(number)


def _region(owner: str, begin: str | None, skip: int) -> str:
    """The region of interest, as in :func:`tessera.record.traces.record`."""
    if begin is None:
        return f"skip:{skip}" if skip else "auto"
    if begin not in BEGINS:
        raise unknown_name(f"beginning of {owner}", begin, list(BEGINS))
    if skip:
        raise TesseraError(
            f"{owner}: --begin and --skip", "both say where recording begins", "give one of them only"
        )
    return BEGINS[begin]


def _verified(name: str, auction: Auction, done: Finished) -> dict:
    """The report, line by line, against the same report made by Python from the tables."""
    path = done.folder / OUTPUT
    if not path.exists():
        raise _wrong(f"xalan did not write {OUTPUT}: {done.stderr.strip()[-300:]}")
    found = path.read_text().splitlines(keepends=True)
    expected = list(report(auction))
    for number, (ours, theirs) in enumerate(zip(expected, found, strict=False), start=1):
        if ours != theirs:
            raise _wrong(f"line {number} of {OUTPUT} is {theirs!r}, expected {ours!r}")
    if len(found) != len(expected):
        raise _wrong(f"{OUTPUT} has {len(found)} lines, expected {len(expected)}")
    return {
        "workload": name,
        "input_bytes": (done.folder / DOCUMENT).stat().st_size,
        "lines": len(found),
        "checksum": hashlib.sha256(path.read_bytes()).hexdigest(),
        "verified": True,
    }


def _wrong(found: str) -> TesseraError:
    remedy = "run it alone: tessera workload run xml-transform; no trace is kept of a wrong result"
    return TesseraError("result of xalan", found, remedy, exit_code=EXIT_FAILED)
