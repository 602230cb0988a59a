"""Debian's ``xalan`` (Xalan-C++), unmodified: an XSLT transformation of an auction site's document.

A size's args are the tables' sizes (``--people --items --bids --categories --seed``) and ``--skip``: data
accesses before the recorded part, which parsing the document takes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.workloads.debian.auction import Auction
from tessera.record.workloads.debian.auction_report import STYLESHEET, report
from tessera.record.workloads.debian.options import counts
from tessera.record.workloads.model import Size, Workload
from tessera.record.workloads.run import WORKLOADS, Finished, Run

DOCUMENT, SHEET, OUTPUT = "auction.xml", "report.xsl", "report.txt"
_DEFAULTS = {"people": 1000, "items": 1000, "bids": 5000, "categories": 20, "seed": 1, "skip": 0}


def prepare(workload: Workload, size: Size, folder: Path) -> Run:
    """Write document and stylesheet into ``folder``; the run writes the report there."""
    owner = f"{workload.name}, size {size.label}"
    chosen = counts(owner, size.args, _DEFAULTS)
    skip = chosen.pop("skip")
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
        roi=f"skip:{skip}" if skip else "auto",
        verify=lambda done: _verified(workload.name, auction, done),
    )


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
