"""The picture that ``vips`` turns, as a PNG file, and what a turned and enlarged picture must be.

Samples are computed from (seed, row, column, band), so the picture is the same on every machine: a smooth
pattern of large cells with noise on top. The PNG file is not compressed: reading it is not the work to be
recorded.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tessera.record.workloads.debian.clicks import mix64

BANDS = 3
_ROWS_A_PIECE = 64
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
        for start in range(0, self.height, _ROWS_A_PIECE):
            piece = self.rows(start, min(start + _ROWS_A_PIECE, self.height))
            filtered = np.zeros((len(piece), self.width * BANDS + 1), np.uint8)
            filtered[:, 1:] = piece.reshape(len(piece), -1)
            if data := stream.compress(filtered.tobytes()):
                yield data
        yield stream.flush()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def turned(
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
