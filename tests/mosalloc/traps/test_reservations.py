"""Reservations without access that are larger than the pool: .NET and snmalloc start with 256GB."""

from __future__ import annotations

import re
import subprocess

import pytest

from tessera.measure.mosalloc import read_report

pytestmark = pytest.mark.toolchain

GB, USED = 1 << 30, 2 << 20
DOTNET, SNMALLOC = (256 << 30) + 4096, 256 << 30


KINDS = pytest.mark.parametrize(
    ("bytes_", "how", "opened"),
    [
        (DOTNET, "mprotect", USED),
        (SNMALLOC, "noreserve", USED),
        (DOTNET, "fixed", USED),
        (DOTNET, "twice", USED),  # the same pages, once
        (DOTNET, "child", USED),
        (DOTNET, "own", USED),
        (DOTNET, "none", 0),
    ],
)


@pytest.fixture
def reserve(program, launch, layout, tmp_path):
    """``reserve(bytes, how, *rows, pools=...)``: status, stderr, (verdict, calls, bytes in use)."""
    program, report = program("reserve"), tmp_path / "r.json"

    def run(bytes_: int, how: str, *rows: str, **pools: str) -> tuple[int, str, tuple[str, int, int]]:
        arguments = [program, str(bytes_), how]
        plain = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if plain.stdout != "good\n":
            pytest.skip(f"this machine refuses to reserve {bytes_} bytes: {plain.stdout}")
        done = launch("--layout", layout(*rows, **pools), "--report", report, "--", *arguments)
        assert done.stdout == "good\n", done.stderr
        found = read_report(report)
        used = found.counters["opened_bytes"] + found.children["opened_bytes"]
        calls = found.counters["reservation_calls"] + found.children["reservation_calls"]
        return done.returncode, done.stderr, (found.verdict, calls, used)

    return run


@KINDS
def test_a_reservation_works_as_on_plain_linux(reserve, bytes_, how, opened):
    """All of it has 4KB pages, as the layout says; the note's row has room for it in the pool."""
    status, said, found = reserve(bytes_, how)
    assert (status, found) == (0, ("confirmed", 1, opened)), said
    row = re.search(r"what to do: .*: (mmap,-1,0,\d+GB)$", said, re.MULTILINE)[1]
    assert f"uses {opened >> 20}MB of them" in said
    pools = f"type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\n{row}\n"
    assert reserve(bytes_, how, pools=pools) == (0, "", ("confirmed", 0, 0))


@pytest.mark.hugepages
@KINDS
def test_windows_that_do_not_reach_what_is_used_are_a_mismatch(reserve, huge_pages, bytes_, how, opened):
    huge_pages(1)
    status, said, (verdict, _, used) = reserve(bytes_, how, "mmap,2MB,0,2MB")
    assert (status, verdict, used) == ((1, "mismatch", opened) if opened else (0, "confirmed", 0))
    row = re.search(r"what to do: .*(mmap,-1,0,\d+GB)", said)[1]
    pools = f"type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\n{row}\n"
    assert reserve(bytes_, how, "mmap,2MB,0,2MB", pools=pools) == (0, "", ("confirmed", 0, 0))


def test_threads_that_get_the_same_addresses_again(reserve):
    """Each use counts. The row has room for what is reserved at a time, 8 x 2GB, beside what the pool has."""
    status, said, found = reserve(2 * GB, "threads")
    assert (status, found) == (0, ("confirmed", 8000, 8000 * 4096)), said
    size = int(re.search(r"mmap,-1,0,(\d+)GB$", said, re.MULTILINE)[1])
    assert size <= 17


@pytest.mark.parametrize(("bytes_", "stays"), [(GB - 4096, True), (GB, False)])
def test_small_requests_stay_in_the_pools(program, launch, layout, tmp_path, bytes_, stays):
    """malloc reserves its arenas in the same way, and has another place for them: below 1GB it is ENOMEM."""
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program("reserve"), str(bytes_), "mprotect")
    assert done.stdout == ("errno 12\n" if stays else "good\n")
    counters = read_report(report).counters
    assert (counters["pool_full_calls"], counters["reservation_calls"]) == ((1, 0) if stays else (0, 1))
    assert "mmap,-1,0," in done.stderr


def test_a_recording_refuses_it_and_names_a_size(program, build, layout, tmp_path):
    """Without the launcher, and with a pool map as the recorder preloads the library."""
    service = {"LD_PRELOAD": str(build / "libmosalloc.so"), "MOSALLOC_LAYOUT": str(layout())}
    environment = service | {"MOSALLOC_POOL_MAP": str(tmp_path / "pool-map")}
    program = program("reserve")
    argv = [program, str(DOTNET), "mprotect"]
    done = subprocess.run(argv, env=service, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "good\n"), done.stderr
    for bytes_, size in ((5 * GB, "6GB"), (DOTNET, "64GB")):
        argv = [program, str(bytes_), "mprotect"]
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (3, "errno 12\n")
        said = re.search(r"^mosalloc: (.*): (.*)\n\s*what to do: (.*)$", done.stderr, re.MULTILINE)
        assert said and f"{bytes_ // (1 << 20) + (bytes_ % (1 << 20) > 0)}MB" in said[1], done.stderr
        assert f"--anon-pool {size}" in said[3]
        name, value = re.search(r"(MOSALLOC_RESERVATIONS)=(\w+)", said[3]).groups()
        done = subprocess.run(
            argv, env=environment | {name: value}, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, "good\n"), done.stderr
