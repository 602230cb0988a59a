"""The header as Python reads it: the same rules as the C++ reader's, without it."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.record import traces
from tessera.record.traces.header import outside_note

LINES = (
    "program=a%0Ab 100%25\norigin=qemu\naccesses=3\nstores=1\ninstructions=9\nblock_executions=2\n"
    "distinct_4kb_pages=2\nthreads=1\ncomplete_roi=0\nkernel_modelled=0\nkernel_accesses=0\nstopped=0\nchecksum=abc\n"
    "pool=brk 4096 8192 100 1\n"
)


def write_trace(path: Path, lines: str = LINES, extra: bytes = b"") -> Path:
    """A file with this header, no frames and an empty block table."""
    text = (lines + f"sha256={hashlib.sha256(lines.encode()).hexdigest()}\n").encode()
    path.write_bytes(struct.pack("<8sQQQQQ64x", b"TESSTRC4", 112, len(text), 0, 0, 0) + text + extra)
    return path


def test_info_reads_the_header(tmp_path: Path):
    found = traces.trace_info(write_trace(tmp_path / "t.tst"))
    assert found["program"] == "a\nb 100%"
    assert found["complete_roi"] is False
    assert found["accesses"] == 3
    assert found["pools"] == [
        {"kind": "brk", "base": 4096, "size_bytes": 8192, "used_bytes": 100, "distinct_4kb_pages": 1}
    ]
    assert found["file_bytes"] == (tmp_path / "t.tst").stat().st_size


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda data: b"", "trace-magic"),
        (lambda data: b"X" + data[1:], "trace-magic"),
        (lambda data: data[:-1], "trace-length"),
        (lambda data: data + b"x", "trace-length"),
        (lambda data: data.replace(b"accesses=3", b"accesses=4"), "trace-checksum"),
    ],
    ids=[
        "<lambda>-not a Tessera trace0",
        "<lambda>-not a Tessera trace1",
        "<lambda>-truncated",
        "<lambda>-truncated or extended",
        "<lambda>-damaged",
    ],
)
def test_damage_is_refused_with_a_remedy(tmp_path: Path, damage, code: str):
    path = write_trace(tmp_path / "t.tst")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(TesseraError) as caught:
        traces.trace_info(path)
    assert str(path) in caught.value.asked and caught.value.code == code
    assert "tessera trace record" in caught.value.remedy


def test_a_missing_file_and_a_missing_key_are_named(tmp_path: Path):
    with pytest.raises(TesseraError, match="none.tst") as caught:
        traces.trace_info(tmp_path / "none.tst")
    assert caught.value.code == "trace-missing"
    with pytest.raises(TesseraError, match="threads") as caught:
        traces.trace_info(write_trace(tmp_path / "t.tst", LINES.replace("threads=1\n", "")))
    assert caught.value.code == "trace-header"


COUNTS = (
    "windows=3\nwindow_accesses=10\ngap_accesses=20\nregion_accesses_seen=85\n"
    "region_instructions_seen=400\nregion_ended=1\n"
)


def test_counts_of_the_region_are_there_together_or_not_at_all(tmp_path: Path):
    keys = [line.partition("=")[0] for line in COUNTS.splitlines()]
    without = traces.trace_info(write_trace(tmp_path / "without.tst"))
    assert [without[key] for key in keys] == [None] * 6
    found = traces.trace_info(write_trace(tmp_path / "with.tst", LINES + COUNTS))
    assert [found[key] for key in keys] == [3, 10, 20, 85, 400, True]
    with pytest.raises(TesseraError, match="gap_accesses") as caught:
        traces.trace_info(write_trace(tmp_path / "t.tst", LINES + COUNTS.replace("gap_accesses=20\n", "")))
    assert caught.value.code == "trace-header"


def test_events_are_counted_and_their_bytes_belong_to_the_file(tmp_path: Path):
    lines = LINES.replace("pool=", "events=7 5 90\npool=")
    assert traces.trace_info(write_trace(tmp_path / "t.tst", lines, b"01234"))["events"] == 7
    assert "events" not in traces.trace_info(write_trace(tmp_path / "without.tst"))
    for extra in (b"0123", b"012345"):
        with pytest.raises(TesseraError) as caught:
            traces.trace_info(write_trace(tmp_path / "t.tst", lines, extra))
        assert caught.value.code == "trace-length"


@pytest.mark.parametrize("version", ["1", "2", "3"])
def test_an_older_version_is_named(tmp_path: Path, version: str):
    path = write_trace(tmp_path / "old.tst")
    path.write_bytes(b"TESSTRC" + version.encode() + path.read_bytes()[8:])
    with pytest.raises(TesseraError, match=f"version {version}, and this program reads version 4") as caught:
        traces.trace_info(path)
    assert caught.value.code == "trace-version"
    assert "tessera trace record" in caught.value.remedy


def table() -> list[tuple[str, str, str]]:
    """Verdict, what, and lines of a header, of each row that the C++ reader is tested with, too."""
    base, rows = [], []
    for line in (repo_root() / "artifacts/tracer/tests/headers.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        verdict, what, *changes = line.split(" | ")
        if verdict == "base":
            base.append(what)
            continue
        lines = list(base)
        for change in changes[0].split(" ; ") if changes[0] else []:
            key = change.lstrip("+-").partition("=")[0] + "="
            at = next((i for i, old in enumerate(lines) if old.startswith(key)), None)
            if change.startswith("-"):
                del lines[at]
            elif change.startswith("+") or key == "pool=" or at is None:
                lines.append(change.removeprefix("+").replace("\\t", "\t"))
            else:
                lines[at] = change
        rows.append((verdict, what, "".join(line + "\n" for line in lines)))
    return rows


def test_headers_are_accepted_and_refused_as_the_shared_table_says(tmp_path: Path):
    verdicts = []
    for verdict, what, lines in table():
        path = write_trace(tmp_path / "t.tst", lines, b"01234" if "events=" in lines else b"")
        try:
            traces.trace_info(path)
            verdicts.append("accepted")
        except TesseraError as refused:
            verdicts.append("refused")
            assert str(path) in refused.asked and "byte" in refused.asked, what
            assert refused.code in ("trace-header", "trace-length"), what
        assert verdicts[-1] == verdict, what
    assert verdicts.count("accepted") >= 15 and verdicts.count("refused") >= 50


def test_what_is_outside_the_pools_is_a_number_and_a_sentence(tmp_path: Path):
    lines = LINES.replace("distinct_4kb_pages=2", "distinct_4kb_pages=4")
    found = traces.trace_info(write_trace(tmp_path / "recorded.tst", lines))
    assert (found["outside_4kb_pages"], found["outside_accesses"]) == (3, None)
    assert "3 of 4 touched 4KB pages (75.0%)" in outside_note(found)
    found = traces.trace_info(write_trace(tmp_path / "imported.tst", lines + "outside_accesses=2\n"))
    assert "2 of 3 accesses (66.7%)" in outside_note(found)
    few = {"distinct_4kb_pages": 1000, "accesses": 1000}
    for pages, accesses, said in (
        (9, 9, False),
        (10, 0, True),
        (0, 10, True),
        (9, None, False),
        (0, 0, False),
    ):
        assert bool(outside_note(few | {"outside_4kb_pages": pages, "outside_accesses": accesses})) == said
    nothing = {"distinct_4kb_pages": 0, "accesses": 0, "outside_4kb_pages": 0, "outside_accesses": 0}
    assert outside_note(nothing) == ""
