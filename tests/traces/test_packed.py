"""Foreign traces as people download them: read by content, or refused with the command that unpacks."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.record import traces
from tessera.record.traces.packed import DAMAGED, packing_of, unpacked

_RECORD = struct.Struct("<QBB2B4B2Q4Q")


def record(ip: int, load: int = 0x7F0000000000) -> bytes:
    return _RECORD.pack(ip, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, load, 0, 0, 0)


PLAIN = b"".join(record(0x401000 + 4 * (n % 8), 0x7F0000000000 + 8 * n) for n in range(1000))


def tar(data: bytes, form: int = tarfile.GNU_FORMAT, name: str = "traces/run") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return made.getvalue()


def old_tar(data: bytes) -> bytes:
    """As before POSIX: no mark, only the checksum of the first block."""
    block = bytearray(tar(data)[:512])
    block[257:265] = bytes(8)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + tar(data)[512:]


def zipped(data: bytes, form: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", form) as archive:
        archive.writestr("run", data)
    return made.getvalue()


def alone(data: bytes) -> bytes:
    return lzma.compress(data, format=lzma.FORMAT_ALONE)


#: name -> (content, the form that it is read as)
READ = {
    "plain": (PLAIN, None),
    "xz": (lzma.compress(PLAIN), "xz"),
    "two xz streams": (lzma.compress(PLAIN[:6400]) + lzma.compress(PLAIN[6400:]), "xz"),
    "gzip": (gzip.compress(PLAIN), "gzip"),
    "gzip without a time": (gzip.compress(PLAIN, mtime=0), "gzip"),
    "two gzip members": (gzip.compress(PLAIN[:6400]) + gzip.compress(PLAIN[6400:]), "gzip"),
    "bzip2": (bz2.compress(PLAIN), "bzip2"),
    "lzma": (alone(PLAIN), "lzma"),
    # Instructions whose address has the bytes of a mark: only a trial shows that they are records.
    "plain, ip as gzip's mark": (record(0x0000_0010_0008_8B1F) * 9, None),
    "plain, ip as bzip2's mark": (record(0x0000_7F00_0068_5A42) * 9, None),
    "plain, ip as lzma's mark": (record(0x0000_0000_0100_005D) * 9, None),
    "plain, ip as zip's mark": (record(0x0000_0000_0403_4B50) * 9, None),
    "plain, ip as zstd's mark": (record(0x0000_0000_FD2F_B528) * 9, None),
    "one record": (record(0x401000), None),
    "records of a tar's length": (record(0x401000) * 8, None),
    "a record of another kind": (bytes(64) * 9, None),  # the importer refuses it
    "empty": (b"", None),
}

#: name -> (content, words of the refusal)
REFUSED = {
    "tar": (tar(PLAIN), ("tar archive", "tar -xf")),
    "tar, ustar": (tar(PLAIN, tarfile.USTAR_FORMAT), ("tar archive", "tar -xf")),
    "tar, pax": (tar(PLAIN, tarfile.PAX_FORMAT), ("tar archive", "tar -xf")),
    "tar, before POSIX": (old_tar(PLAIN), ("tar archive", "tar -xf")),
    # Their first bytes could be those of a record.
    "tar of a short name": (tar(PLAIN, name="mcf"), ("tar archive", "tar -xf")),
    "tar.gz of a short name": (gzip.compress(tar(PLAIN, name="mcf")), ("tar archive in gzip", "tar -xf")),
    "zip, stored": (zipped(PLAIN, zipfile.ZIP_STORED), ("zip archive", "unzip")),
    "tar.xz": (lzma.compress(tar(PLAIN)), ("tar archive in xz", "tar -xf")),
    "tar.gz": (gzip.compress(tar(PLAIN)), ("tar archive in gzip", "tar -xf")),
    "tar.bz2": (bz2.compress(tar(PLAIN)), ("tar archive in bzip2", "tar -xf")),
    "tar.lzma": (alone(tar(PLAIN)), ("tar archive in lzma", "tar -xf")),
    "zip": (zipped(PLAIN), ("zip archive", "unzip")),
    "zip in gzip": (gzip.compress(zipped(PLAIN)), ("zip archive in gzip", "gzip -dk", "unzip the result")),
    "xz in gzip": (gzip.compress(lzma.compress(PLAIN)), ("compressed twice, xz in gzip", "gzip -dk")),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(range(90, 200)), ("7z archive", "7z x")),
    "rar": (b"Rar!\x1a\x07\1\0" + bytes(range(90, 200)), ("rar archive", "unrar x")),
    "zstd": (b"\x28\xb5\x2f\xfd\xa4" + bytes(range(90, 200)), ("zstd", "zstd -d")),
    "zstd with a skippable frame": (b"\x50\x2a\x4d\x18\4\0\0\0" + bytes(range(90, 200)), ("zstd", "zstd -d")),
    "lz4": (b"\x04\x22\x4d\x18\x64\x40" + bytes(range(90, 200)), ("lz4", "lz4 -d")),
    "lzip": (b"LZIP\1\x0c" + bytes(range(90, 200)), ("lzip", "lzip -dk")),
    "compress": (b"\x1f\x9d\x90" + bytes(range(90, 200)), (".Z", "uncompress")),
}


@pytest.mark.parametrize("name", READ)
def test_streams_are_found_by_content(tmp_path: Path, name: str):
    content, form = READ[name]
    path = tmp_path / "run.tar"  # the name says nothing
    path.write_bytes(content)
    found = packing_of(path)
    assert (found.name if found else None) == form


@pytest.mark.parametrize("name", REFUSED)
def test_archives_are_refused_with_the_command_that_unpacks(tmp_path: Path, name: str):
    content, words = REFUSED[name]
    path = tmp_path / "run.champsimtrace.xz"
    path.write_bytes(content)
    with pytest.raises(TesseraError) as caught:
        packing_of(path)
    assert caught.value.code == "trace-packed" and str(path) in caught.value.asked
    assert "tessera trace import" not in caught.value.remedy and path.name in caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def test_damage_never_ends_in_a_traceback(tmp_path: Path):
    rng, path = random.Random(7), tmp_path / "run"
    for content in [content for content, _ in (*READ.values(), *REFUSED.values())]:
        for _ in range(12):
            damaged = bytearray(content[: rng.randrange(len(content) + 1)] if rng.random() < 0.5 else content)
            for _ in range(rng.randrange(4)):
                if damaged:
                    damaged[rng.randrange(min(len(damaged), 600))] = rng.randrange(256)
            path.write_bytes(damaged)
            try:
                packing_of(path)
            except TesseraError as refused:
                assert refused.code == "trace-packed"


STREAMS = {"xz": lzma.compress, "gzip": gzip.compress, "bzip2": bz2.compress, "lzma": alone}


@pytest.mark.parametrize("form", STREAMS)
def test_no_stream_is_left_out(tmp_path: Path, form: str):
    """Parallel compressors write many streams: a damaged one in the middle must not look like the end."""
    path, pack = tmp_path / "run", STREAMS[form]
    parts = [pack(PLAIN[:20000]), pack(PLAIN[20000:40000]), pack(PLAIN[40000:])]

    def content(data: bytes) -> bytes:
        path.write_bytes(data)
        return b"".join(unpacked(path, packing_of(path)))

    assert content(b"".join(parts)) == PLAIN
    assert content(b"".join(parts) + bytes(8)) == PLAIN
    damaged = bytes([parts[1][0] ^ 255]) + parts[1][1:]
    for rest in (damaged + parts[2], parts[1][:-1], parts[1][:7], b"garbage"):
        with pytest.raises(DAMAGED):
            content(parts[0] + rest)


@pytest.mark.toolchain
@pytest.mark.parametrize("name", ["xz", "two gzip members", "bzip2", "lzma", "plain, ip as gzip's mark"])
def test_import_reads_what_is_found(components, tmp_path: Path, name: str):
    path, out = tmp_path / "run", tmp_path / "run.tst"
    path.write_bytes(READ[name][0])
    traces.import_champsim(path, out)
    assert traces.trace_info(out)["accesses"] == (9 if name.startswith("plain") else 1000)


@pytest.mark.toolchain
@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress, bz2.compress])
def test_a_cut_archive_is_refused_as_that_and_not_as_a_short_trace(components, tmp_path: Path, pack):
    packed = tmp_path / "run"
    packed.write_bytes(pack(PLAIN)[:-12])
    with pytest.raises(TesseraError) as caught:
        traces.import_champsim(packed, tmp_path / "run.tst")
    assert caught.value.code == "trace-stream" and str(packed) in caught.value.asked
    assert not (tmp_path / "run.tst").exists()


@pytest.mark.toolchain
def test_cloudsuites_records_and_wide_addresses_are_named(components, tmp_path: Path):
    wide = struct.Struct("<QBB4B4B6x4Q4QBB6x")
    rows = (
        wide.pack(0x401000, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 8 * n + 8, 0, 0, 0, 1, 1)
        for n in range(50)
    )
    path = tmp_path / "cloudsuite"
    path.write_bytes(b"".join(rows))
    with pytest.raises(TesseraError, match="CloudSuite's 96-byte records"):
        traces.import_champsim(path, tmp_path / "run.tst")
    path.write_bytes(PLAIN[:640] + record(0x401000, 1 << 50) + PLAIN[640:])
    with pytest.raises(TesseraError, match="more than 48 bits") as caught:
        traces.import_champsim(path, tmp_path / "run.tst")
    for word in (
        "record 10 at byte 640",
        "source_memory[0] at byte 672",
        "0x4000000000000",
        "--max-accesses 10",
    ):
        assert word in str(caught.value)
