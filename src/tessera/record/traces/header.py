"""The header of a trace, read without the C++ library: this takes a millisecond and needs no container.

The layout of the preamble and the header's lines are those of ``artifacts/tracer/lib/container.h`` and
``header_text.cpp``. Frames are not read here; ``tessera trace info`` does that.
"""

from __future__ import annotations

import hashlib
import re
import struct
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.outcomes import LEAST_OUTSIDE
from tessera.core.results.schema import columns
from tessera.core.units import PAGE_4KB

MAGIC = b"TESSTRC4"
#: Formats without what the simulator needs: lines of strings, kinds of branches, sizes of accesses.
OLDER_MAGICS = (b"TESSTRC1", b"TESSTRC2", b"TESSTRC3")
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
#: Only imported traces have it.
_OUTSIDE = "outside_accesses"
_POOL_NUMBERS = ("base", "size_bytes", "used_bytes", "distinct_4kb_pages")
_MOST_64, _MOST_32, _MOST_EVENT_BYTES = (1 << 64) - 1, (1 << 32) - 1, 1 << 32
#: What :func:`trace_info` gives.
KEYS = columns("""
program                   text    -             the program
origin                    text    -             what recorded or imported the trace
accesses                  count   accesses      data accesses
stores                    count   accesses      those that are stores
instructions              count   instructions  of the recorded thread
block_executions          count   1             executions of blocks
distinct_4kb_pages        count   pages         pages that hold the first byte of an access
outside_4kb_pages         count   pages         those that lie in no pool, so no layout acts on them
outside_accesses          count   accesses      accesses to them; only of imported traces
threads                   count   1             threads that ran in the region
thread                    text    -             of several: number and blocks of the recorded one, all blocks
complete_roi              truth   -             the region was recorded to its end
stopped                   truth   -             the recording stopped the program
kernel_modelled           truth   -             accesses of system calls are recorded
kernel_accesses           count   accesses      accesses of system calls
events                    count   1             calls to memory management; only of a trace with them
pools                     text    -             the heap and the anonymous pool, with place and use
windows                   count   1             windows of the trace; 0 if the region was only counted
window_accesses           count   accesses      of a window
gap_accesses              count   accesses      of a gap between windows
region_accesses_seen      count   accesses      counted in the region, recorded or not
region_instructions_seen  count   instructions  the same
region_ended              truth   -             the region was counted to its end
checksum                  text    -             of the trace
file_bytes                count   bytes         size of the file
""")
ADDRESS_LIMIT = 1 << 48  #: of pools; the simulator rejects addresses at and above it


def trace_info(path: Path | str) -> dict:
    """Header of the trace at ``path``.

    Keys: :data:`KEYS`. Of the pools, each has ``kind`` (``brk`` or ``mmap``), ``base, size_bytes, used_bytes,
    distinct_4kb_pages``.

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
        if size != expected or tail_offset < _PREAMBLE_BYTES:
            found = f"the file must have {expected} bytes: it was truncated or extended"
            raise _refused(path, f"byte {size}", found, "trace-length")
        file.seek(tail_offset)
        text = file.read(header_bytes)
    return _parse(path, tail_offset, text) | {"file_bytes": size}


def outside_note(found: dict) -> str:
    """Which share of a trace no layout acts on, of :func:`trace_info`'s result; empty below LEAST_OUTSIDE.

    Pages that lie in no pool have 4KB pages under every layout: stack, program, libraries, and arrays of an
    imported trace that its pools do not reach.
    """
    parts = (
        (found["outside_4kb_pages"], found["distinct_4kb_pages"], "touched 4KB pages"),
        (found["outside_accesses"], found["accesses"], "accesses"),
    )
    if not any(part and part >= LEAST_OUTSIDE * whole for part, whole, _ in parts):
        return ""
    shares = (
        f"{part} of {whole} {name} ({100 * part / whole:.1f}%)"
        for part, whole, name in parts
        if part is not None
    )
    return f"outside the pools of the trace: {', '.join(shares)}; they have 4KB pages under every layout"


def _stored_event_bytes(text: bytes) -> int:
    """Bytes of the section of events, by the line ``events=<count> <stored_bytes> <text_bytes>``."""
    line = re.search(rb"^events=\d{1,20} (\d{1,20}) \d{1,20}$", text, re.MULTILINE)
    return int(line[1]) if line else 0


def _parse(path: Path, offset: int, text: bytes) -> dict:
    body, _, checksum = text.rpartition(b"sha256=")
    whole = not body or body.endswith(b"\n")
    if not whole or checksum != hashlib.sha256(body).hexdigest().encode() + b"\n":
        raise _refused(path, f"header at byte {offset}", "the checksum differs: damaged", "trace-checksum")
    try:
        return parse_header(body.decode(errors="surrogateescape"))
    except _WrongError as wrong:
        raise _refused(path, f"header at byte {offset}", str(wrong), "trace-header") from None


class _WrongError(ValueError):
    """A broken rule of the header; its text says which."""


def parse_header(text: str) -> dict:
    """The keys of :func:`trace_info`, without ``file_bytes``, from the header's lines without ``sha256=``."""
    found: dict = {"pools": []}
    for line in text.split("\n")[:-1]:
        key, equals, value = line.partition("=")
        if not equals:
            raise _WrongError(f"the line {line[:80]!r} has no '='")
        if key in found:
            raise _WrongError(f"the key {key[:80]!r} is given twice")
        try:
            if key == "pool":
                found["pools"].append(_pool(value))
            else:
                found[key] = _VALUES[key](value)
        except KeyError:
            raise _WrongError(f"the key {key[:80]!r} is unknown") from None
        except ValueError as wrong:
            raise _WrongError(f"the line {line[:80]!r}: {wrong}") from None
    counted = {*_COUNTS, _ENDED}
    if missing := sorted((_REQUIRED | (counted if counted & found.keys() else set())) - found.keys()):
        raise _WrongError(f"the header has no {', '.join(missing)}")
    _check(found)
    outside = found["distinct_4kb_pages"] - sum(pool["distinct_4kb_pages"] for pool in found["pools"])
    return dict.fromkeys((*sorted(counted), _OUTSIDE)) | found | {"outside_4kb_pages": outside}


def _check(found: dict) -> None:
    """Rules between keys."""
    if found["threads"] > _MOST_32:
        raise _WrongError(f"threads is {found['threads']}, above 2^32 - 1")
    if "thread" in found and found["threads"] < 2:
        raise _WrongError("the line 'thread=' belongs to recordings of one of several threads")
    if found.get(_OUTSIDE, 0) > found["accesses"]:
        raise _WrongError("more accesses are outside the pools than the trace has")
    pools = found["pools"]
    for i, pool in enumerate(pools):
        for other in pools[:i]:
            if pool["kind"] == other["kind"]:
                raise _WrongError(f"two pools are of the kind {pool['kind']}")
            if pool["base"] < _end(other) and other["base"] < _end(pool):
                raise _WrongError("the pools overlap")
    inside = sum(pool["distinct_4kb_pages"] for pool in pools)
    if inside > found["distinct_4kb_pages"]:
        raise _WrongError(
            f"the pools have {inside} touched pages, and the trace has {found['distinct_4kb_pages']}"
        )


def _end(pool: dict) -> int:
    return pool["base"] + pool["size_bytes"]


def _pool(value: str) -> dict:
    """The rule of one pool; ``artifacts/tracer/lib/pools.cpp`` has the same."""
    kind, _, rest = value.partition(" ")
    if kind not in ("brk", "mmap"):
        raise ValueError("a pool is brk or mmap")
    pool: dict = dict(zip(_POOL_NUMBERS, _numbers(rest, len(_POOL_NUMBERS)), strict=True))
    if pool["base"] % PAGE_4KB:
        raise ValueError("a pool begins at a 4KB page")
    if _end(pool) > ADDRESS_LIMIT:
        raise ValueError("a pool ends at or below 2^48, the limit of addresses")
    if pool["used_bytes"] > pool["size_bytes"]:
        raise ValueError("a pool has at most its size in use")
    if pool["distinct_4kb_pages"] > -(-pool["size_bytes"] // PAGE_4KB):
        raise ValueError("a pool has no more touched pages than it has pages")
    return {"kind": kind} | pool


def _number(value: str) -> int:
    if not re.fullmatch("[0-9]{1,20}", value) or int(value) > _MOST_64:
        raise ValueError("a number has digits only and is below 2^64")
    return int(value)


def _numbers(value: str, count: int) -> list[int]:
    words = value.split(" ")
    if len(words) != count:
        raise ValueError(f"it has {len(words)} numbers, not {count}, one space apart")
    return [_number(word) for word in words]


def _flag(value: str) -> bool:
    if (number := _number(value)) > 1:
        raise ValueError("a flag is 0 or 1")
    return number == 1


def _events(value: str) -> int:
    count, _, text_bytes = _numbers(value, 3)
    if text_bytes > _MOST_EVENT_BYTES:
        raise ValueError("events take at most 2^32 bytes")
    return count


def _thread(value: str) -> dict:
    number, blocks, all_blocks = _numbers(value, 3)
    if number > _MOST_32 or blocks > all_blocks:
        raise ValueError("a thread has a 32-bit number and a part of all blocks")
    return {"number": number, "blocks": blocks, "all_blocks": all_blocks}


def _unescape(value: str) -> str:
    return value.replace("%0A", "\n").replace("%25", "%")


#: How the value of each key but ``pool`` is read.
_VALUES = (
    {"program": _unescape, "origin": _unescape, "checksum": str, "thread": _thread, _EVENTS: _events}
    | dict.fromkeys((*_NUMBERS, *_COUNTS, _OUTSIDE), _number)
    | dict.fromkeys((*_FLAGS, _ENDED), _flag)
)


def _refused(path: Path, where: str, found: str, code: str) -> TesseraError:
    return TesseraError(
        f"trace {path}, {where}",
        found,
        "copy the file from its source again, or record it again: tessera trace record",
        exit_code=EXIT_FAILED,
        code=code,
    )
