"""The header of a trace, read without the C++ library: this takes a millisecond and needs no container.

The layout of the preamble and the header's lines are those of ``artifacts/tracer/lib/container.h`` and
``header_text.cpp``. Frames are not read here; ``tessera trace verify`` does that.
"""

from __future__ import annotations

import hashlib
import re
import struct
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError

MAGIC = b"TESSTRC3"
#: Formats without lines of string instructions and kinds of branches. The simulator's clock needs these.
OLDER_MAGICS = (b"TESSTRC1", b"TESSTRC2")
_PREAMBLE = struct.Struct("<8sQQQQQ")
_PREAMBLE_BYTES = 112  # with two digests that only the C++ reader checks
_INDEX_ENTRY_BYTES = 112
_NUMBERS = (
    "accesses",
    "stores",
    "instructions",
    "block_executions",
    "distinct_4kb_pages",
    "threads",
    "kernel_accesses",
)
_FLAGS = ("complete_roi", "stopped", "kernel_modelled")
_REQUIRED = {"program", "origin", "checksum", *_FLAGS, *_NUMBERS}
#: Keys of a recording that counted its region: all of them or none.
_COUNTS = ("windows", "window_accesses", "gap_accesses", "region_accesses_seen", "region_instructions_seen")
_ENDED = "region_ended"
#: Of a trace with events: their number, and sizes that only the C++ reader needs.
_EVENTS = "events"


def info(path: Path | str) -> dict:
    """Header of the trace at ``path``.

    Keys: ``program, origin, accesses, stores, instructions, block_executions, distinct_4kb_pages,
    threads, complete_roi, stopped, kernel_modelled, kernel_accesses, checksum, pools, file_bytes``; each
    pool has ``kind`` (``brk`` or ``mmap``), ``base, size_bytes, used_bytes, distinct_4kb_pages``.
    If the recording counted its region: ``windows`` of the trace (0: it was only counted),
    ``window_accesses``, ``gap_accesses``, ``region_accesses_seen`` and ``region_instructions_seen`` (recorded
    or not), ``region_ended`` (they are those of the whole region). Else these are None.
    Only of a trace with events: ``events``, their number.

    Raises:
        TesseraError: the file is missing, not a trace, truncated, or its header is damaged; ``code`` is
            ``trace-missing``, ``trace-magic``, ``trace-version``, ``trace-length``, ``trace-checksum`` or
            ``trace-header``.
    """
    path = Path(path)
    if not path.is_file():
        found = "this is not a regular file" if path.exists() else "the file does not exist"
        remedy = "record a trace: tessera trace record --out ..."
        raise TesseraError(f"trace {path}", found, remedy, code="trace-missing")
    with path.open("rb") as file:
        preamble = file.read(_PREAMBLE_BYTES)
        if preamble[:8] in OLDER_MAGICS:
            versions = (chr(magic[7]) for magic in (preamble, MAGIC))
            found = "its format is version {}, and this program reads version {}".format(*versions)
            raise _refused(path, "byte 0", found, "trace-version")
        if len(preamble) < _PREAMBLE_BYTES or preamble[:8] != MAGIC:
            found = "this is not a Tessera trace, or the recording did not finish"
            raise _refused(path, "byte 0", found, "trace-magic")
        _, tail_offset, header_bytes, table_bytes, _, frames = _PREAMBLE.unpack_from(preamble)
        size = path.stat().st_size
        expected = tail_offset + header_bytes + table_bytes + frames * _INDEX_ENTRY_BYTES
        if expected < size:
            file.seek(tail_offset)
            expected += _stored_event_bytes(file.read(header_bytes))
        if size != expected:
            found = f"the file must have {expected} bytes: it was truncated or extended"
            raise _refused(path, f"byte {size}", found, "trace-length")
        file.seek(tail_offset)
        text = file.read(header_bytes)
    return _parse(path, tail_offset, text) | {"file_bytes": size}


def _stored_event_bytes(text: bytes) -> int:
    """Bytes of the section of events, by the line ``events=<count> <stored_bytes> <text_bytes>``."""
    line = re.search(rb"^events=\d+ (\d+) \d+$", text, re.MULTILINE)
    return int(line[1]) if line else 0


def _parse(path: Path, offset: int, text: bytes) -> dict:
    body, _, checksum = text.rpartition(b"sha256=")
    if hashlib.sha256(body).hexdigest().encode() != checksum.strip():
        raise _refused(path, f"header at byte {offset}", "the checksum differs: damaged", "trace-checksum")
    found: dict = {"pools": []}
    for line in body.decode(errors="surrogateescape").split("\n")[:-1]:
        key, _, value = line.partition("=")
        if key == "pool":
            kind, *numbers = value.split()
            names = ("base", "size_bytes", "used_bytes", "distinct_4kb_pages")
            found["pools"].append({"kind": kind} | dict(zip(names, map(int, numbers), strict=True)))
        elif key == _EVENTS:
            found[key] = int(value.split()[0])
        elif key in (*_FLAGS, _ENDED):
            found[key] = value == "1"
        else:
            found[key] = int(value) if key in _NUMBERS + _COUNTS else _unescape(value)
    counted = {*_COUNTS, _ENDED}
    if missing := sorted((_REQUIRED | (counted if counted & found.keys() else set())) - found.keys()):
        found = f"the header has no {', '.join(missing)}"
        raise _refused(path, f"header at byte {offset}", found, "trace-header")
    return dict.fromkeys(sorted(counted)) | found


def _unescape(value: str) -> str:
    return value.replace("%0A", "\n").replace("%25", "%")


def _refused(path: Path, where: str, found: str, code: str) -> TesseraError:
    return TesseraError(
        f"trace {path}, {where}",
        found,
        "copy the file from its source again, or record it again: tessera trace record",
        exit_code=EXIT_FAILED,
        code=code,
    )
