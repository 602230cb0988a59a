"""Runs of hostile programs: first on the bare kernel, then under the library, always with a watchdog."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tessera.machine.program_paths import preloadable

SYS_USERFAULTFD = 323
SKIPPED = 77  # the program's status where the kernel does not have what it needs


@dataclass(frozen=True)
class Ended:
    """A program that has ended; ``map`` holds the counters of pool_map.h, empty without the library."""

    status: int
    out: str
    err: str
    map: dict

    @property
    def right(self) -> bool:
        return self.status == 0 and self.out.splitlines()[-1:] == ["right"]


def where(process: subprocess.Popen) -> str:
    """The system call, or the place in the kernel, of each of its threads."""
    found = []
    for task in sorted(Path(f"/proc/{process.pid}/task").glob("*")):
        try:
            found.append(
                f"{task.name}: {(task / 'wchan').read_text()} {(task / 'syscall').read_text().split()[0]}"
            )
        except OSError:
            continue
    return "; ".join(found)


def execute(argv: Sequence[object], folder: Path, seconds: float, **options) -> tuple[int, str, str]:
    """Status and output; the whole process group ends here, and what does not end in time is a hang."""
    paths = (folder / "stdout", folder / "stderr")
    with paths[0].open("w") as out, paths[1].open("w") as err:
        process = subprocess.Popen(
            [*map(str, argv)], stdout=out, stderr=err, start_new_session=True, **options
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"hang: still running after {seconds} s ({where(process)}): {paths[1].read_text()}")
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    text = (paths[0].read_text(), paths[1].read_text())
    if status == -signal.SIGALRM:
        pytest.fail(f"hang: ended by its own alarm: {text[1]}")
    if status == SKIPPED:
        pytest.skip(f"{Path(str(argv[0])).name}: this kernel or file system does not have what it needs")
    return status, *text


def huge_page_counts() -> tuple[str, ...]:
    """The kernel's counts of 2MB pages: all, free, promised."""
    folder = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
    return tuple((folder / f"{name}_hugepages").read_text() for name in ("nr", "free", "resv"))


def wait_for(counts: tuple[str, ...], seconds: float = 5) -> None:
    """An io_uring outlives its process: its pages are given back later. Until then the counts are wrong."""
    deadline = time.monotonic() + seconds
    while huge_page_counts() != counts and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.fixture
def userfaultfd():
    """SKIP where the writes of other threads cannot be held back: pages are softened there, not split."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
    if descriptor < 0:
        pytest.skip(f"userfaultfd is not allowed here ({os.strerror(ctypes.get_errno())})")
    os.close(descriptor)


@pytest.fixture
def shown(program, root, tmp_path):
    """``shown(path)``: a pool map as a dictionary, read with the header of the library."""
    include = root / "artifacts/mosalloc/include"

    def read(path: Path) -> dict:
        done = subprocess.run([program("show_map", "-I", str(include)), path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return read


@pytest.fixture
def hostile(build, layout, shown, tmp_path):
    """``hostile(argv, *rows)``: the program plain, then under these windows; both must end in time.

    The library is preloaded without the launcher, so that the status is the program's and pages may split.
    """

    def run(
        argv: Sequence[object], *rows: str, seconds: float = 60, plain: bool = True, **variables: str
    ) -> Ended:
        if plain:
            status, out, err = execute(argv, tmp_path, seconds)
            assert Ended(status, out, err, {}).right, f"without the library: status {status}: {out}{err}"
        pool_map = tmp_path / "pools"
        environment = os.environ | variables
        environment["LD_PRELOAD"] = str(preloadable(build / "libmosalloc.so"))
        environment["MOSALLOC_LAYOUT"] = str(layout(*rows))
        environment["MOSALLOC_POOL_MAP"] = str(pool_map)
        before = huge_page_counts()
        status, out, err = execute(argv, tmp_path, seconds, env=environment)
        wait_for(before)
        return Ended(status, out, err, shown(pool_map))

    return run


@pytest.fixture
def disk_file(tmp_path_factory):
    """A file that lies on a disk, where direct I/O is in flight for a while."""
    path = Path("/var/tmp") / f"tessera-hostile-{os.getpid()}"
    yield path
    path.unlink(missing_ok=True)
