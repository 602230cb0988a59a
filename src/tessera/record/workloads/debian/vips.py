"""Debian's ``vips`` (libvips-tools), unmodified: a picture is turned by a quarter and enlarged by a tenth.

``vips affine`` decodes the PNG file into memory, because a turned picture needs its pixels in another order.
Then one worker makes the output, tile by tile: each tile reads a few pixels of many rows of the input. The
affine transformation is the first step of PARSEC's vips (Bienia et al., PACT 2008), which needs that
benchmark's own program; this row has the step only.

A size's args are ``--width``, ``--height`` (pixels) and ``--seed``.

Threads: ``VIPS_CONCURRENCY=1`` gives one worker. vips starts two threads that write the output before it, so
the worker is thread 3. It is recorded; decoding is the main thread's work, and is not.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.workloads.debian.options import counts
from tessera.record.workloads.debian.picture import BANDS, Picture, turned
from tessera.record.workloads.model import Size, Workload
from tessera.record.workloads.run import VIPS, Finished, Run

INPUT, OUTPUT = "picture.png", "turned.v"
WORKER = "3"  #: number of the thread that computes
SCALE = 1.1
#: Least width and height: the interpolation needs neighbours.
LEAST = 64
#: vips keeps larger decoded pictures in a file (100 MB by default): here all are in memory.
_IN_MEMORY = str(1 << 40)
_DEFAULTS = {"width": 512, "height": 512, "seed": 1}
#: A sample is rounded to a whole number, from products with 12 bits after the point.
_TOLERANCE = 1.0
_HEADER_BYTES, _UCHAR, _MAGIC = 64, 0, b"\xb6\xa6\xf2\x08"
_PIXELS_A_PIECE = 1 << 21


def prepare(workload: Workload, size: Size, folder: Path) -> Run:
    """Write the picture into ``folder``; the run writes the turned one there."""
    owner = f"{workload.name}, size {size.label}"
    chosen = counts(owner, size.args, _DEFAULTS, {"width": LEAST, "height": LEAST})
    picture = Picture(chosen["width"], chosen["height"], chosen["seed"])
    source, target = folder / INPUT, folder / OUTPUT
    picture.write(source)
    target.unlink(missing_ok=True)
    return Run(
        argv=(workload.executable, "affine", str(source), str(target), f"0 -{SCALE} {SCALE} 0"),
        paths=(folder,),
        environment={"VIPS_CONCURRENCY": "1", "VIPS_DISC_THRESHOLD": _IN_MEMORY},
        folder=folder,
        image=VIPS,
        threads=True,
        thread=WORKER,
        verify=lambda done: _verified(workload.name, picture, done),
    )


def read_pixels(path: Path) -> tuple[NDArray[np.uint8], int]:
    """Pixels of a file in vips' own format, (height, width, 3), and the column of its origin.

    The file is a header of 64 bytes, then the rows.

    Raises:
        TesseraError: another format, other bands, or less data than the header says.
    """
    with path.open("rb") as stream:
        head = stream.read(_HEADER_BYTES)
    if len(head) < _HEADER_BYTES or head[:4] != _MAGIC:
        raise _wrong(f"{path.name} begins with {head[:4].hex() or 'nothing'}, expected {_MAGIC.hex()}")
    width, height, bands, _, band_format = struct.unpack("<5i", head[4:24])
    length = width * height * bands
    if (bands, band_format) != (BANDS, _UCHAR) or path.stat().st_size < _HEADER_BYTES + length:
        found = f"{width} x {height}, {bands} bands of format {band_format}, {path.stat().st_size} bytes"
        raise _wrong(f"{path.name} has {found}")
    (origin,) = struct.unpack("<i", head[48:52])
    return np.memmap(path, np.uint8, "r", _HEADER_BYTES, (height, width, bands)), origin


def _verified(name: str, picture: Picture, done: Finished) -> dict:
    """Every pixel that lies inside the picture, against the same interpolation by numpy; then a checksum."""
    path = done.folder / OUTPUT
    if not path.exists():
        raise _wrong(f"it wrote no {OUTPUT}: {done.stderr.strip()[-300:]}")
    pixels, origin = read_pixels(path)
    height, width, _ = pixels.shape
    asked = (round(SCALE * picture.width), round(SCALE * picture.height))
    if max(abs(height - asked[0]), abs(width - asked[1]), abs(origin - asked[1])) > 1:
        found = f"{width} x {height} pixels, origin in column {origin}"
        raise _wrong(f"{OUTPUT} has {found}, expected {asked[1]} x {asked[0]} and {asked[1]}")
    digest, compared, worst = hashlib.sha256(), 0, 0.0
    for columns in _pieces(width, height):
        expected, inside = turned(picture, SCALE, columns - origin, np.arange(height))
        found = pixels[:, columns[0] : columns[-1] + 1]
        difference = np.abs(found - expected)[inside]
        worst, compared = max(worst, float(difference.max(initial=0))), compared + int(inside.sum())
        if worst > _TOLERANCE:
            raise _wrong(f"a pixel of {OUTPUT} differs by {worst:.3g} from linear interpolation")
    for row in pixels:
        digest.update(row.tobytes())
    return {
        "workload": name,
        "pixels": width * height,
        "compared": compared,
        "largest_difference": round(worst, 3),
        "checksum": digest.hexdigest(),
        "verified": True,
    }


def _pieces(width: int, height: int) -> Iterator[NDArray[np.int64]]:
    """Ranges of output columns: a column of the output is a row of the input."""
    step = max(1, _PIXELS_A_PIECE // height)
    for start in range(0, width, step):
        yield np.arange(start, min(start + step, width))


def _wrong(found: str) -> TesseraError:
    remedy = "run it alone: tessera workload run vips; no trace is kept of a wrong result"
    return TesseraError("result of vips", found, remedy, exit_code=EXIT_FAILED)
