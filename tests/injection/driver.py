"""Fault injection: every call of a writer that changes a file fails once with each error, and once by a kill.

    python -P tests/injection/driver.py [--sample N] [--seed S] [--json FILE] [WRITER ...]

For each writer of :mod:`tests.injection.writers`:

1. A dry pass lists its calls on files (kinds of ``inject.c``) below a folder of its own.
2. For each call and each error (:data:`ERRORS`), a forked process begins with the same old files and meets
   the error there. ``kill`` ends the process before the call; ``cut`` writes half and says so, as a disk does
   that has just become full; ``full`` goes on failing with ENOSPC.
3. Then :func:`judged` looks: each published file is the old or the new one; a failure has a message with the
   cause and the remedy and leaves nothing behind; a success has all new files; the same command, run again
   without an error, ends with the files of a run that met none.

Without ``--sample`` all points are injected: ``python -P tests/injection/driver.py`` is the whole.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import ctypes
import errno
import gc
import io
import json
import mmap
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
KINDS = (
    "open",
    "write",
    "sync",
    "close",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "truncate",
    "lock",
    "look",
    "folder",
)
ONCE, ON, CUT, KILL = range(4)
#: name -> (errno, mode of inject.c)
ERRORS = {
    **{name: (getattr(errno, name), ONCE) for name in ("ENOSPC", "EIO", "EACCES", "EBADF")},
    "kill": (0, KILL),
    "full": (errno.ENOSPC, ON),
    "cut": (0, CUT),
}
#: Errors that make no sense for a kind: a look takes no space, and only writes can be cut.
_ONLY = {
    "look": ("EIO", "EACCES", "kill"),
    "folder": ("EIO", "EACCES", "EBADF", "kill"),
    "lock": ("EIO", "EBADF", "kill"),
}
_TAKES_SPACE = ("open", "write", "mkdir")
TEMPORARY = ".*.tmp"  #: what tessera.core.files leaves after a kill


class _Call(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("there", ctypes.c_int32), ("path", ctypes.c_char * 240))


class _Page(ctypes.Structure):
    """``struct page`` of inject.c."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("armed", "fired", "calls", "kind", "number", "error", "mode")),
        ("counts", ctypes.c_int32 * len(KINDS)),
        ("root", ctypes.c_char * 4096),
        ("list", _Call * 16384),
    )


@dataclass(frozen=True)
class Point:
    """A call of the dry pass and what it meets; ``path`` is below the folder."""

    kind: str
    number: int
    error: str
    path: str


@dataclass
class Found:
    """What was injected into a writer, and what went wrong."""

    writer: str
    calls: int
    points: int = 0
    missed: int = 0  #: points that the run did not come to
    failures: list[dict] = field(default_factory=list)


def points_of(calls: list[tuple[str, str, bool]]) -> list[Point]:
    """All points of a dry pass."""
    seen: Counter[str] = Counter()
    points = []
    for kind, path, there in calls:
        seen[kind] += 1
        for error in _ONLY.get(kind, ERRORS):
            if there and kind in ("open", "mkdir") and error in ("ENOSPC", "full"):
                continue  # takes no space
            if (error == "cut" and kind != "write") or (error == "full" and kind not in _TAKES_SPACE):
                continue
            points.append(Point(kind, seen[kind], error, path))
    return points


# The files of a folder.

State = dict[str, bytes | str | None]


def state_of(root: Path) -> State:
    """Name -> bytes of a file, target of a link, None for a folder."""
    found: State = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            short = os.path.relpath(path, root)
            if stat.S_ISLNK(mode):
                found[short] = os.readlink(path)
            elif stat.S_ISREG(mode):
                with open(path, "rb") as stream:
                    found[short] = stream.read()
            else:
                found[short] = None
    return found


def restore(root: Path, state: State) -> None:
    """Make the folder have these files, and no others."""
    if root.exists():
        shutil.rmtree(root)
    root.mkdir(parents=True)
    for name, content in sorted(state.items()):
        path = root / name
        if content is None:
            path.mkdir(exist_ok=True)
        elif isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)
            if name in _executable:
                path.chmod(0o755)


_executable: set[str] = set()


class Injector:
    """The control page, and the runs of one folder."""

    def __init__(self, folder: Path):
        self.root = folder / "root"
        with open(os.environ["TESSERA_INJECT"], "r+b") as file:
            self.page = _Page.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(_Page)))
        self.page.root = os.fsencode(self.root)

    def calls(self) -> list[tuple[str, str, bool]]:
        """Kind and path of each call of the last run, and whether the path was there."""
        assert self.page.calls <= len(self.page.list), "more calls than inject.c lists"
        listed = self.page.list[: self.page.calls]
        return [(KINDS[one.kind], one.path.decode(errors="replace"), bool(one.there)) for one in listed]

    def arm(self, point: Point | None) -> None:
        """Count from zero; with a point, inject it."""
        page = self.page
        page.kind, page.number, page.error, page.mode = -1, 0, 0, ONCE
        if point:
            page.kind, page.number = KINDS.index(point.kind), point.number
            page.error, page.mode = ERRORS[point.error]
        page.counts[:] = [0] * len(KINDS)
        page.fired = page.calls = 0
        page.armed = 1

    def disarm(self) -> None:
        """Calls are as usual again."""
        self.page.armed = 0


def run_in_child(body):
    """Call ``body()`` in a fork: the wait status, and what it returned (None after a kill)."""
    reader, writer = os.pipe()
    sys.stdout.flush(), sys.stderr.flush()
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.close(reader)
            answer = body()
            atexit._run_exitfuncs()
            with open(writer, "wb") as stream:
                stream.write(json.dumps(answer).encode())
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as stream:
        answer = stream.read()
    return os.waitpid(child, 0)[1], json.loads(answer) if answer else None


@contextlib.contextmanager
def _said() -> Iterator[list[str]]:
    """Standard output and error of this process and its children; the text comes at the end."""
    found: list[str] = []
    kept = os.dup(1), os.dup(2)
    memory = os.memfd_create("said")
    sys.stdout.flush(), sys.stderr.flush()
    os.dup2(memory, 1), os.dup2(memory, 2)
    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = io.TextIOWrapper(os.fdopen(os.dup(memory), "wb"), write_through=True)
    try:
        yield found
    finally:
        sys.stdout.close()
        sys.stdout, sys.stderr = streams
        os.dup2(kept[0], 1), os.dup2(kept[1], 2)
        os.close(kept[0]), os.close(kept[1])
        with os.fdopen(memory, "rb") as stream:
            stream.seek(0)
            found.append(stream.read().decode(errors="replace"))


def outcome(run, root: Path) -> tuple[int, str]:
    """Exit status and output of ``run(root)`` under the command line's treatment of errors."""
    from tessera.cli import main
    from tessera.core import files

    def command(**_) -> None:
        run(root)
        sys.exit(0)  # as click ends a command

    os.chdir("/")
    files._looked_into.clear()  # as in a new process, which has not looked for what dead ones left
    with _said() as said:
        try:
            with mock.patch.object(main, "cli", command):
                main.main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
            status = 70
    return status, said[0]


# The judgement.


def judged(
    writer, point: Point, old: State, new: State, root: Path, status: int | None, said: str
) -> list[str]:
    """What is wrong after the injected run, and after the same run without an error.

    Args:
        status: exit status; None: the process was killed.
    """
    problems = []
    now = state_of(root)
    published = [name for name in {*old, *new} if writer.publishes(name)]
    same_as_new = all(writer.equal(name, now.get(name), new.get(name)) for name in published)
    for name in published:
        if status is None and name not in now and any(fnmatch(name, one) for one in writer.gone):
            continue
        if not any(writer.equal(name, now.get(name), one.get(name)) for one in (old, new)):
            problems.append(f"{name} is neither the old nor the new one")
    if writer.whole and not same_as_new:
        if any(not writer.equal(name, now.get(name), old.get(name)) for name in published):
            problems.append("some published files are new and some are old")
    if status is not None:
        if "Traceback" in said or status not in (0, 1, 2):
            problems.append(f"a traceback, or exit status {status}")
        elif status and "what to do: " not in said:
            problems.append(f"exit status {status} without a remedy")
        elif status and point.error in errno.errorcode.values() or (status and point.error == "full"):
            wanted = os.strerror(ERRORS[point.error][0])
            if wanted not in said:
                problems.append(f"the message does not have the cause: {wanted}")
            remedy = said.partition("what to do: ")[2]
            if wanted == os.strerror(errno.ENOSPC) and not re.search("free | room|name a folder", remedy):
                problems.append("the remedy of a full disk is to free space")
        if status == 0 and not same_as_new:
            problems.append("success, but the published files are not the new ones")
    spared = status is None or point.kind in ("unlink", "folder")
    if left := _left(writer, now, old, new, spared):
        problems.append(f"left behind: {', '.join(left)}")
    again, said_again = outcome(writer.again or writer.run, root)
    if again and not same_as_new:
        problems.append(f"the next run ends with status {again}: {said_again.strip()[-600:]}")
    last = state_of(root)
    for name in {name for name in {*old, *new} if writer.settles(name)}:
        if not writer.equal(name, last.get(name), new.get(name)):
            problems.append(f"after the next run {name} is not the new one")
    if left := _left(writer, last, old, new, spared):
        problems.append(f"left behind by the next run: {', '.join(left)}")
    return problems


def _left(writer, now: State, old: State, new: State, spared: bool) -> list[str]:
    """Files that neither state has. After a kill, or if a removal failed, temporary ones may be there.

    A process removes what dead ones left; this one lives.
    """
    extra = sorted(set(now) - set(old) - set(new))
    patterns = (*writer.beside, *((TEMPORARY, *writer.debris) if spared else ()))
    return [
        name
        for name in extra
        if not any(fnmatch(part, one) for part in name.split("/") for one in patterns)
        and not (now[name] is None and writer.folders)
    ]


def inject(writer, injector: Injector, point: Point, old: State, new: State) -> tuple[list[str], str, bool]:
    """Problems, output, and whether the run came to the point.

    Only a kill needs a process of its own. Whatever fails in this one is tried again in a fork: an error may
    leave open files in a process, and only the end of the process closes them.
    """
    root = injector.root

    def first() -> tuple[int, str]:
        restore(root, old)
        injector.arm(point)
        try:
            return outcome(writer.run, root)
        finally:
            injector.disarm()

    def whole() -> tuple[list[str], str, bool]:
        status, said = first()
        reached = bool(injector.page.fired)
        return judged(writer, point, old, new, root, status, said), said, reached

    if point.error != "kill":
        problems, said, reached = whole()
        if problems or not reached:
            status, answer = run_in_child(whole)
            problems, said, reached = answer or ([f"the process ended with {status}"], "", True)
        return problems, said, reached
    status, answer = run_in_child(first)
    injector.disarm()
    if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
        # A program that the writer started was killed: the writer says so.
        ended, said = answer or (70, f"Traceback: wait status {status}")
        return judged(writer, point, old, new, root, ended, said), said, bool(injector.page.fired)
    return judged(writer, point, old, new, root, None, ""), "", True


def examine(writer, folder: Path, sample: int | None = None, seed: int = 0) -> Found:
    """Inject all points of a writer, or some of them."""
    injector = Injector(folder)
    root = injector.root
    restore(root, {})
    with writer.world(root):
        writer.prepare(root)
        _executable.clear()
        _executable.update(p.relative_to(root).as_posix() for p in root.rglob("*") if os.access(p, os.X_OK))
        old = state_of(root)
        outcome(writer.run, root)  # here, so that forks find all modules imported
        gc.collect(), gc.freeze()

        runs = []
        for _ in range(2):  # twice: what differs between two runs is not the writer's to keep
            restore(root, old)
            injector.arm(None)
            status, said = outcome(writer.run, root)
            injector.disarm()
            assert status == 0, f"{writer.name} fails without an error: {said}"
            runs.append((injector.calls(), state_of(root)))
        calls, new = runs[0]
        names = {name for one in (old, new, runs[1][1]) for name in one if writer.settles(name)}
        assert any(new.get(name) is not None for name in names), f"{writer.name} publishes nothing"
        assert any(not writer.equal(name, old.get(name), new.get(name)) for name in names), (
            f"{writer.name}: old and new are the same"
        )
        for name in names:
            assert writer.equal(name, new.get(name), runs[1][1].get(name)), f"{name} differs between two runs"
        points = [point for point in points_of(calls) if point.kind not in writer.spared]
        if sample is not None:
            sample = min(sample, len(points), writer.most or sample)
            points = random.Random(f"{seed} {writer.name}").sample(points, sample)
        found = Found(writer.name, len(calls))
        for point in points:
            problems, said, reached = inject(writer, injector, point, old, new)
            found.points += reached
            found.missed += not reached
            if problems and reached:
                found.failures.append(asdict(point) | {"problems": problems, "said": said.strip()[-800:]})
        gc.unfreeze()
    return found


def preloaded(command: list[str], folder: Path) -> dict[str, str]:
    """The environment in which ``command`` is started with the library, which is compiled for it."""
    library, page = folder / "inject.so", folder / "page"
    words = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, HERE / "inject.c"]
    subprocess.run([*map(str, words), "-ldl"], check=True)
    with page.open("wb") as stream:
        stream.truncate(ctypes.sizeof(_Page))
    path = os.pathsep.join((str(HERE.parents[1]), str(HERE.parents[1] / "src")))
    return os.environ | {
        "LD_PRELOAD": str(library),
        "TESSERA_INJECT": str(page),
        "PYTHONPATH": path,
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("writers", nargs="*")
    words.add_argument("--sample", type=int, help="points of each writer; all without it")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--json", type=Path, help="write what was found there")
    words.add_argument("--show", type=int, default=5, help="failures of each writer to print")
    words.add_argument("--calls", action="store_true", help="only list the calls")
    asked = words.parse_args()
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # fsync costs nothing there
    folder = Path(tempfile.mkdtemp(prefix="tessera-inject-", dir=place)).resolve()
    try:  # no TemporaryDirectory: its forks remove it as they end
        if "TESSERA_INJECT" not in os.environ:
            command = [sys.executable, "-P", *sys.argv]
            return subprocess.run(command, env=preloaded(command, folder)).returncode
        from tests.injection.writers import WRITERS

        if unknown := set(asked.writers) - {writer.name for writer in WRITERS}:
            words.error(f"no such writer: {', '.join(sorted(unknown))}")
        tables = []
        for writer in WRITERS:
            if (writer.name not in asked.writers) if asked.writers else writer.missing():
                continue
            try:
                found = examine(writer, folder, asked.sample, asked.seed)
            except AssertionError as error:  # the line of the table is wrong, or the writer without an error
                wrong = {"problems": [str(error)], "said": ""}
                found = Found(writer.name, 0, failures=[wrong])
            tables.append(asdict(found))
            counts = f"{found.calls:5} calls {found.points:6} points {found.missed:4} missed"
            seconds = f"{time.process_time():6.1f} s"
            print(f"{seconds} {found.writer:24} {counts} {len(found.failures):5} failures", flush=True)
            for one in found.failures[: asked.show]:
                print("  " + " ".join(str(one.get(name)) for name in ("kind", "number", "error", "path")))
                for problem in one["problems"]:
                    print(f"    {problem}")
                print("      " + one["said"].replace("\n", "\n      "))
    finally:
        shutil.rmtree(folder)
    if asked.json:
        asked.json.write_text(json.dumps(tables, indent=1) + "\n")
    return int(any(table["failures"] for table in tables))


if __name__ == "__main__":
    sys.exit(main())
