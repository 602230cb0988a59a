"""Debian's ``vips`` (libvips-tools), unmodified: a picture is turned by a quarter and enlarged by a tenth.

``vips affine`` decodes the PNG file into memory, because a turned picture needs its pixels in another
order. Then one worker makes the output, tile by tile: each tile reads a few pixels of many rows of the
input. The affine transformation is the first step of PARSEC's vips (Bienia et al., PACT 2008), which needs
that benchmark's own program; this row has the step only.

A size's args are ``--width``, ``--height`` (pixels) and ``--seed``.

Threads: ``VIPS_CONCURRENCY=1`` gives one worker. vips starts two threads that write the output before it,
so the worker is thread 3. It is recorded; decoding is the main thread's work, and is not.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.debian_programs import input_counts
from tessera.record.debian_programs.random_numbers import mix64
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import VIPS, Finished, ProgramRun

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


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """Write the picture into ``folder``; the run writes the turned one there."""
    owner = f"{workload.name}, size {size.label}"
    chosen = input_counts(owner, size.args, _DEFAULTS, {"width": LEAST, "height": LEAST})
    picture = Picture(chosen["width"], chosen["height"], chosen["seed"])
    source, target = folder / INPUT, folder / OUTPUT
    picture.write(source)
    target.unlink(missing_ok=True)
    return ProgramRun(
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
        expected, inside = turned_picture(picture, SCALE, columns - origin, np.arange(height))
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


# The picture as a PNG file, and what a turned and enlarged picture must be.
#
# Samples are computed from (seed, row, column, band), so the picture is the same on every machine: a smooth
# pattern of large cells with noise on top. The PNG file is not compressed: reading it is not the work to be
# recorded.

BANDS = 3
_ROWS_A_CHUNK = 64
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS, _RGB = 8, 2  #: of the header IHDR (PNG specification, 11.2.2)


@dataclass(frozen=True)
class Picture:
    """``width`` x ``height`` pixels of three bands, 8 bits each."""

    width: int
    height: int
    seed: int

    def rows(self, start: int, end: int) -> NDArray[np.uint8]:
        """Rows of the picture, (end - start, width, 3)."""
        y = np.arange(start, end, dtype=np.uint64)[:, None, None]
        x = np.arange(self.width, dtype=np.uint64)[None, :, None]
        band = np.arange(BANDS, dtype=np.uint64)[None, None, :]
        cell = mix64(self.seed, (y // np.uint64(32) * np.uint64(self.width) + x // np.uint64(32)) * 4 + band)
        noise = mix64(~self.seed & (2**63 - 1), (y * np.uint64(self.width) + x) * 4 + band)
        return ((cell >> np.uint64(57)) + (noise >> np.uint64(57))).astype(np.uint8)

    def write(self, path: Path) -> None:
        """The picture as a PNG file whose data are stored, not compressed."""
        header = struct.pack(">IIBBBBB", self.width, self.height, _EIGHT_BITS, _RGB, 0, 0, 0)
        with path.open("wb") as out:
            out.write(_SIGNATURE + _chunk(b"IHDR", header))
            for data in self._stored():
                out.write(_chunk(b"IDAT", data))
            out.write(_chunk(b"IEND", b""))

    def _stored(self) -> Iterator[bytes]:
        """The stream of all rows, each after its filter type 0 (none)."""
        stream = zlib.compressobj(0)
        for start in range(0, self.height, _ROWS_A_CHUNK):
            piece = self.rows(start, min(start + _ROWS_A_CHUNK, self.height))
            filtered = np.zeros((len(piece), self.width * BANDS + 1), np.uint8)
            filtered[:, 1:] = piece.reshape(len(piece), -1)
            if data := stream.compress(filtered.tobytes()):
                yield data
        yield stream.flush()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def turned_picture(
    picture: Picture, scale: float, columns: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Samples of the picture turned by a quarter and enlarged, by linear interpolation, not rounded.

    A pixel (x, y) of the picture is at (-scale y, scale x), so an output column is a row of the picture.

    Args:
        columns, rows: positions of output columns and rows, ascending; columns are negative.

    Returns:
        Values (rows, columns, 3), and where all four neighbours lie inside the picture, (rows, columns).
    """
    left, along, inside_x = _neighbours(rows / scale, picture.width)
    top, down, inside_y = _neighbours(-columns / scale, picture.height)
    first, last = int(top.min()), int(top.max()) + 2
    samples = picture.rows(first, last).astype(np.float32)
    lines = _between(samples, top - first, down[:, None, None])
    values = _between(lines.transpose(1, 0, 2), left, along[:, None, None])
    return values, inside_x[:, None] & inside_y[None, :]


def _neighbours(position: NDArray[np.float64], length: int):
    """The first of two neighbours, the weight of the second, and whether both are inside with a margin."""
    first = np.floor(position).astype(np.int64)
    inside = (first >= 1) & (first < length - 2)
    first = np.clip(first, 0, length - 2)
    return first, (position - first).astype(np.float32), inside


def _between(samples: NDArray[np.float32], first: NDArray[np.int64], weight: NDArray[np.float32]):
    """Along the first axis: samples at ``first`` and behind it, weighted."""
    return samples[first] * (1 - weight) + samples[first + 1] * weight
