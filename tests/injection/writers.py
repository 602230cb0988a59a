"""The table of writers: a name, what to run, the files that it publishes, and how they are compared.

A writer is a function of a folder. ``published`` are patterns of the files below the folder that must be the
old or the new ones after a fault. What a table of this repository needs besides (a checkout, a server, a
program) is made by ``world``, outside the folder, so its files are not counted.

It is longer than other files because it is one table: a reader looks up whether a writer is in it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from unittest import mock

Run = Callable[[Path], object]
#: Times and random names that differ between two equal runs.
DAYS = (rb'"(fetched|created|checked|seconds)": ("[^"]*"|\[[^\]]*\]|[0-9.]+)',)


@contextmanager
def nothing(root: Path) -> Iterator[None]:
    """A world without anything."""
    yield


@dataclass(frozen=True)
class Writer:
    """One line of the table.

    Attributes:
        run: writes below the folder that it gets; any exception is treated as the command line does.
        published: patterns of names of files that are the old or the new one, whatever happens.
        prepare: makes the old files.
        again: the run after a fault; ``run`` itself if None.
        world: a context in which all of it runs.
        settled: patterns of files that are right after the next run, whatever they are before.
        whole: all published files are old, or all are new.
        blank: patterns of bytes that do not count.
        gone: patterns of published files that a kill between two renames of a folder may leave out.
        beside: patterns of files that may be there, as locks.
        debris: patterns of temporary files that a kill may leave, besides those of tessera.core.files.
        folders: empty folders may stay.
        most: points of a sample, for a writer that takes a second.
        spared: kinds of calls that do not fail.
        missing: whether what it needs is not here.
    """

    name: str
    run: Run
    published: tuple[str, ...]
    prepare: Run = lambda root: None
    again: Run | None = None
    world: Callable[[Path], contextlib.AbstractContextManager] = nothing
    settled: tuple[str, ...] = ()
    whole: bool = False
    blank: tuple[bytes, ...] = ()
    gone: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    debris: tuple[str, ...] = ()
    folders: bool = True
    most: int | None = None
    spared: tuple[str, ...] = ()
    missing: Callable[[], bool] = lambda: False

    def publishes(self, name: str) -> bool:
        """Whether readers see this file."""
        return any(fnmatch(name, pattern) for pattern in self.published)

    def settles(self, name: str) -> bool:
        """Whether the next run puts this file right."""
        return self.publishes(name) or any(fnmatch(name, pattern) for pattern in self.settled)

    def equal(self, name: str, one: object, other: object) -> bool:
        """Whether two contents are the same, times aside."""
        if not (isinstance(one, bytes) and isinstance(other, bytes)):
            return one == other
        for pattern in self.blank:
            one, other = re.sub(pattern, b"", one), re.sub(pattern, b"", other)
        return one == other


WRITERS: list[Writer] = []


def writer(name: str, *published: str, **options) -> Callable[[Run], Run]:
    """Adds the function to the table."""

    def add(run: Run) -> Run:
        WRITERS.append(Writer(name, run, published, **options))
        return run

    return add


def old(**files: str) -> Run:
    """Prepares files whose names are the keys, with ``__`` for a slash and ``_`` for a dot."""

    def prepare(root: Path) -> None:
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return prepare


@contextmanager
def checkout(root: Path) -> Iterator[None]:
    """The folder is the checkout; the real one's tables are linked there."""
    with mock.patch.dict(os.environ, TESSERA_ROOT=str(root)):
        yield


# core/files


@writer("write-text", "new/x.csv", prepare=old(new__x_csv="old\n"))
def _(root: Path) -> None:
    from tessera.core.files import write_text

    write_text(root / "new" / "x.csv", "a,b\n1,2\n" * 5000)


@writer("write-text-new", "a/b/c/x.csv")
def _(root: Path) -> None:
    from tessera.core.files import write_text

    write_text(root / "a" / "b" / "c" / "x.csv", "a,b\n1,2\n")


@writer("check-target", "x.csv", prepare=old(x_csv="old\n"))
def _(root: Path) -> None:
    from tessera.core.files import check_target, write_text

    check_target(root / "x.csv")
    write_text(root / "x.csv", "new\n", sync=False)


@writer("making-program", "x.bin", prepare=old(x_bin="old\n"))
def _(root: Path) -> None:
    """A program that gets the temporary name: here one of Python, in this process."""
    from tessera.core.files import making

    with making(root / "x.bin") as temporary:
        temporary.write_bytes(bytes(100_000))


@writer("write-csv", "t.csv", prepare=old(t_csv="old\n"))
def _(root: Path) -> None:
    import pandas as pd

    from tessera.core.files import write_csv

    write_csv(pd.DataFrame({"a": range(3000), "b": 0.5}), root / "t.csv")


@writer("write-cells", "cells.csv", "cells.parquet", most=20,
        prepare=old(cells_csv="old\n", cells_parquet="old\n"))  # fmt: skip
def _(root: Path) -> None:
    from tessera.core.results.table_io import write_cells

    row = {"workload": "gups", "platform": "p", "layout": "growing-0", "repeat": 0, "status": "ok"}
    for name in ("cells.csv", "cells.parquet"):
        write_cells([row | {"runtime_cycles": 7}], root / name)


# Bundles


def _bundle_parts():
    from tests.bundles.processor import Plan, opened, parts_of

    return parts_of(opened(Plan(rounds=2, layouts=("growing-0", "growing-8"))).files)


def _created(root: Path) -> None:
    from tessera.measure.bundles import writer as writing

    writing.create_bundle(root / "b", *_bundle_parts()[1])


def _begun(root: Path) -> None:
    bundle, _ = _bundle_parts()
    _created(root)
    _append(root, bundle.runs[:-1])


def _append(root: Path, runs) -> None:
    from tessera.measure.bundles import writer as writing

    bundle, _ = _bundle_parts()
    made, has = writing.resume_bundle(root / "b")
    numbers = {run.run for run in has.runs}
    for run in runs:
        if run.run not in numbers:
            made.append(run, bundle.counts.get(run.run, ()))


def _measured(root: Path) -> None:
    _created(root)
    _append(root, _bundle_parts()[0].runs)


def _sealed(root: Path) -> None:
    from tessera.measure.bundles import seal

    _measured(root)
    seal(root / "b")


def _begin_again(root: Path) -> None:
    """As ``begin_bundle`` of tessera.measure.counted: heads that a kill left incomplete are written again."""
    import shutil

    if not (root / "b" / "runs.csv").exists():
        shutil.rmtree(root / "b", ignore_errors=True)
        _created(root)


writer("bundle-create", "b/*", again=_begin_again, most=30)(_created)


# An append is no replacement: what a fault leaves of the last run, the next start removes.
@writer("bundle-append", "b/runs.csv", prepare=_begun)
def _(root: Path) -> None:
    _append(root, _bundle_parts()[0].runs[-1:])


@writer("bundle-seal", "b/SHA256SUMS", "b/cells.csv", "b/counts.csv.gz", "b/runs.csv", prepare=_measured)
def _(root: Path) -> None:
    from tessera.measure.bundles import seal

    if not (root / "b" / "SHA256SUMS").exists():
        seal(root / "b")


@writer("bundle-add", "bundles/*/SHA256SUMS", prepare=_sealed)
def _(root: Path) -> None:
    from tessera.measure.bundles import store

    store.add_bundle(root / "b", root / "bundles")


# What one process keeps for the next: locks, records, logs, the cache


@writer("cell-cache", "cache/ab/abc.json", prepare=old(cache__ab__abc_json="{}"))
def _(root: Path) -> None:
    from tessera.simulate.runner import CellCache

    CellCache(root / "cache").put("abc", {"runtime_cycles": 7, "status": "ok"})


@writer("run-lock", "results/done", beside=(".lock",), debris=(".lock.*",))
def _(root: Path) -> None:
    """Takes the lock, works, and releases it."""
    from tessera.cli.pipeline.lock import RunLock
    from tessera.core.files import write_text

    lock = RunLock(root / "results")
    lock.take()
    try:
        write_text(root / "results" / "done", "done")
    finally:
        lock.release()


def _runs_log(root: Path) -> None:
    from tessera.measure.hybrid_cells import RunLog

    RunLog(root / "runs.csv").append(_logged(0))


def _logged(number: int):
    from dataclasses import fields

    from tessera.measure.hybrid_cells import LoggedRun

    known = {"round": number, "runtime_ns": 7, "status": "ok"}
    return LoggedRun(**{one.name: known.get(one.name, "x") for one in fields(LoggedRun)})


@writer("runs-log", "runs.csv", prepare=_runs_log)
def _(root: Path) -> None:
    from tessera.measure.hybrid_cells import RunLog

    log = RunLog(root / "runs.csv")
    if len(log.read()) < 2:
        log.append(_logged(1))


# What is changed on the machine, and its records


@contextmanager
def _machine(root: Path) -> Iterator[None]:
    """A setting, and a pool of huge pages, as files outside the folder; the records are inside."""
    beside = root.parent / "machine"
    beside.mkdir(exist_ok=True)
    (beside / "setting").write_text("old")
    (beside / "pages").write_text("100")
    from tessera.machine.reserve import pools, reservation

    def total(size: int, *node: int) -> int:
        return int((beside / "pages").read_text())

    def set_total(size: int, count: int, *node: int) -> None:
        (beside / "pages").write_text(str(count))

    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, TESSERA_MACHINE_STATE=str(root / "state")))
        for module in (pools, reservation):
            for name, function in (("huge_pages_total", total), ("set_total", set_total)):
                if hasattr(module, name):
                    stack.enter_context(mock.patch.object(module, name, function))
        yield


@writer("settings", "done", settled=("setting",), world=_machine, beside=("*.lock", "settings.json"))
def _(root: Path) -> None:
    """A setting is new while the block works; afterwards, or after the next run, it is the old one."""
    from tessera.core.files import copy_file, write_text
    from tessera.machine.reserve.settings import changed_settings, restore_settings

    setting = root.parent / "machine" / "setting"
    restore_settings()
    with changed_settings({setting: "new"}, allowed=True):
        write_text(root / "done", setting.read_text())
    copy_file(setting, root / "setting")


# Downloads, from a server on this machine

_BODY = bytes(range(256)) * 1200


@contextmanager
def _served(root: Path) -> Iterator[None]:
    """Requests for zenodo.org go to a server of the tests, which stops the first download in the middle."""
    import httpx2
    from requests.adapters import HTTPAdapter

    from tests.reference.server import Behaviour, serving

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    names = [name for name in os.environ if name.lower().endswith("_proxy")]
    send, handle = HTTPAdapter.send, httpx2.HTTPTransport.handle_request
    with ExitStack() as stack:
        port = stack.enter_context(serving(Behaviour({"a.tar": _archive(), "b.bin": _BODY})))

        def send_here(self, request, **options):
            request.url = request.url.replace("https://zenodo.org", f"http://127.0.0.1:{port}")
            return send(self, request, **options)

        def handle_here(self, request):
            asked = request.url
            request.url = asked.copy_with(scheme="http", host="127.0.0.1", port=port)
            try:
                return handle(self, request)
            finally:
                request.url = asked

        stack.enter_context(mock.patch.dict(os.environ, TESSERA_ROOT=str(root)))
        for name in names:
            del os.environ[name]
        stack.enter_context(mock.patch.object(HTTPAdapter, "send", send_here))
        stack.enter_context(mock.patch.object(httpx2.HTTPTransport, "handle_request", handle_here))
        yield


def _archive() -> bytes:
    import io
    import tarfile

    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in ("fig6.csv", "fig7.csv"):
            entry = tarfile.TarInfo(f"artifact-1/evaluation/reference/{name}")
            entry.size = 9000
            archive.addfile(entry, io.BytesIO(name[:6].encode() * 1500))
    return stream.getvalue()


def _record():
    from tessera.core.reference.records import ArchivedRecord, RecordTable

    tables = tuple(RecordTable(name, "x", "y", "cycles") for name in ("fig6.csv", "fig7.csv"))
    return ArchivedRecord(
        "sample", "mitosis-asplos20", "10.5281/zenodo.123", "123", "an appendix", "a sample", True, {},
        "evaluation/reference", tables,
    )  # fmt: skip


_CACHE = "datasets/cache"


def _part(root: Path) -> None:
    """A part that an earlier process left."""
    folder = root / _CACHE / "records" / "sample"
    folder.mkdir(parents=True)
    (folder / "b.bin.part").write_bytes(_BODY[:1000])
    (folder / "reference").mkdir()
    (folder / "reference" / "fig6.csv").write_text("old")
    (folder / "reference" / "fig7.csv").write_text("old")


@writer(
    "reference-fetch", f"{_CACHE}/records/sample/a.tar", f"{_CACHE}/records/sample/b.bin",
    f"{_CACHE}/records/sample/record.json", f"{_CACHE}/records/sample/reference/*", world=_served,
    prepare=_part, blank=DAYS, beside=("*.part", "*.part.tag", "*.lock"), most=30,
    gone=(f"{_CACHE}/records/sample/reference*",),
)  # fmt: skip
def _(root: Path) -> None:
    from tessera.core.reference.fetch import fetch_and_extract

    fetch_and_extract(_record(), lambda name, done, total: None, pause_s=0.0)


@writer("dataset-fetch", f"{_CACHE}/graph/b.bin", f"{_CACHE}/graph/b.bin.json", world=_served, blank=DAYS,
        beside=("*.part", "*.part.tag", "*.lock"))  # fmt: skip
def _(root: Path) -> None:
    import hashlib

    from tessera.record.datasets import Dataset, fetch_dataset

    url = "https://zenodo.org/files/b.bin"
    sha256 = hashlib.sha256(_BODY).hexdigest()
    fetch_dataset(Dataset("graph", "1", url, "free", len(_BODY), sha256), first_pause_s=0.0)


def _other_version(root: Path) -> None:
    """A part of an earlier version of the file, as long as half of the new one."""
    folder = root / _CACHE / "graph"
    folder.mkdir(parents=True)
    (folder / "b.bin.part").write_bytes(b"x" * (len(_BODY) // 2))
    (folder / "b.bin.part.tag").write_text('"zero"')


@writer("dataset-changed", f"{_CACHE}/graph/b.bin", f"{_CACHE}/graph/b.bin.json", world=_served, blank=DAYS,
        prepare=_other_version, beside=("*.part", "*.part.tag", "*.lock"))  # fmt: skip
def _(root: Path) -> None:
    """Of a file without a published SHA-256, two versions are never mixed."""
    from tessera.record.datasets import Dataset, fetch_dataset

    url = "https://zenodo.org/files/b.bin"
    fetch_dataset(Dataset("graph", "1", url, "free", len(_BODY), ""), first_pause_s=0.0)


# Inputs of a simulation


@writer("layouts", "layouts/*", prepare=old(layouts__growing_0_csv="old\n"))
def _(root: Path) -> None:
    from tessera.core.layouts.layout import Layout, Window, write_layout

    pools = {"brk": 1 << 30, "mmap": 1 << 30}
    for count in (0, 4):
        windows = (Window("mmap", 0, count << 21, 2 << 20),) if count else ()
        write_layout(Layout(f"growing-{count}", pools, windows), root / "layouts" / f"growing-{count}.csv")


def _of_program(work: Callable[[], object]) -> tuple[int, str]:
    """Exit status and message of a program that does this."""
    try:
        work()
    except OSError as error:
        return 1, f"program: {error.strerror}\n  what to do: free space, or check the disk"
    return 0, ""


@contextmanager
def _maker(root: Path) -> Iterator[None]:
    """A program that makes a prepared file, in this process."""
    from types import SimpleNamespace

    from tessera.record.workloads import prepared

    program = root.parent / "maker"
    program.write_text("version 1")

    def run(argv, **options):
        status = _of_program(lambda: Path(argv[-1]).write_bytes(_BODY))
        return subprocess.CompletedProcess(argv, status[0], '{"verified": true}\n', status[1])

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(prepared, "built", lambda component, name: program))
        stack.enter_context(mock.patch.object(prepared, "toolchain", lambda: SimpleNamespace(run=run)))
        yield


def _stale_prepared(root: Path) -> None:
    """A file that another program built, with its note."""
    (root / "graph").write_text("old")
    (root / "graph.json").write_text('{"recipe": {}}')


@writer("prepared", settled=("graph",), world=_maker, prepare=_stale_prepared, beside=(".graph.lock",))
def _(root: Path) -> None:
    from tessera.record.workloads import prepared
    from tessera.record.workloads.definition import Prepared

    asked = Prepared("graph", "maker", ("--scale", "4"), bytes=len(_BODY), memory=1 << 20)
    known = prepared.ensure(asked, root / "graph")
    assert known["bytes"] == len(_BODY)


# The report and what is packed


@contextmanager
def _demo_made(root: Path) -> Iterator[None]:
    from tessera.report import demo

    with (
        mock.patch.object(demo, "make_demo", lambda *words: None),
        mock.patch.object(demo, "html", lambda made: "<html>new</html>\n" * 2000),
    ):
        yield


@writer("demo", "demo/index.html", world=_demo_made, prepare=old(demo__index_html="old\n"))
def _(root: Path) -> None:
    from tessera.report import demo

    demo.write_demo(root, root / "demo")


@contextmanager
def _small_checkout(root: Path) -> Iterator[None]:
    """A git checkout with results, outside the folder."""
    from tests.package import conftest as small

    place = root.parent / "tessera-checkout"
    if not place.exists():
        code = {
            "run": "#!/bin/sh\n",
            "README.md": "# Sample\n",
            ".gitignore": "/results/\n",
            ".zenodo.json": "{}\n",
        }
        small.fill(place, code)
        small.git(place, "init", "-q", "-b", "main")
        small.git(place, "add", "-A")
        small.git(place, "commit", "-q", "-m", "first", "--date", "2026-01-02T03:04:05Z")
        results = {"cells.csv": small.CELLS, "report/index.html": "<html></html>\n"}
        small.fill(place / "results" / "sample", results)
    with mock.patch.dict(os.environ, TESSERA_ROOT=str(place)):
        yield


@writer("package-zip", "out.zip", "out-report.zip", world=_small_checkout, prepare=old(out_zip="old"))
def _(root: Path) -> None:
    from tessera.report.package import make

    make(root.parent / "tessera-checkout" / "results" / "sample", root / "out.zip")


@contextmanager
def _pip_and_docker(root: Path) -> Iterator[None]:
    """``pip download`` and ``docker save`` of functions; the lists of packages are the checkout's."""
    from tessera.report.package import offline

    here = Path(__file__).resolve().parents[2]

    def download(folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("a.whl", "b.whl"):
            (folder / name).write_bytes(_BODY[:5000])

    def ran(words: list[str]) -> str:
        status, said = _of_program(lambda: download(Path(words[-1])))
        if status:
            raise offline._failed(words, said)
        return ""

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(offline, "_ran", ran))
        stack.enter_context(mock.patch.object(offline, "repo_root", lambda: here))
        stack.enter_context(mock.patch.object(offline, "build_dir", lambda name: root / name))
        for name in ("require_docker", "require_image"):
            stack.enter_context(mock.patch.object(offline, name, lambda *words: None))
        stack.enter_context(mock.patch.object(offline, "docker_client", lambda: _script(root, "docker")))
        yield


def _script(root: Path, name: str) -> str:
    """A program that prints something long."""
    path = root.parent / name
    path.write_text("#!/bin/sh\nexec head -c 100000 /dev/zero\n")
    path.chmod(0o755)
    return str(path)


@writer("offline-parts", "offline/*", world=_pip_and_docker, whole=False)
def _(root: Path) -> None:
    """The folder of wheels and the archive of images."""
    from tessera.report.package import offline

    offline.wheels()
    offline.saved(["x:1"])


# Images


@contextmanager
def _images(root: Path) -> Iterator[None]:
    from types import SimpleNamespace

    from tessera.machine.container import images

    listed = SimpleNamespace(stdout="a=1\nb=2\n", returncode=0)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, TESSERA_ROOT=str(root)))
        stack.enter_context(mock.patch.object(images.subprocess, "run", lambda *words, **more: listed))
        stack.enter_context(
            mock.patch.object(images, "docker", lambda *words: SimpleNamespace(stdout="id\n"))
        )
        stack.enter_context(mock.patch.object(images, "docker_run", lambda *words: list(words)))
        yield


@writer("image-manifest", "build/images/base-1.json", world=_images,
        prepare=old(**{"build__images__base-1_json": "{}"}))  # fmt: skip
def _(root: Path) -> None:
    from tessera.machine.container import images

    images._record("base:1", root / "build" / "images", {"arguments": {}})


# The workflow


@writer("timeline", settled=("timeline.csv",), prepare=old(timeline_csv="run,job\n"))
def _(root: Path) -> None:
    """A row is added; a row that a kill cut off is gone when the next one is added."""
    from tessera.cli.pipeline.job_log import Timeline

    log = Timeline(root / "timeline.csv", clock=lambda: 0.0)
    if "2026,trace,gups\n" not in log.path.read_text():
        log._append(["2026", "trace", "gups"])


# Programs of the components, where they are built


def _tool(component: str, name: str) -> Path:
    """A built program; ``$TESSERA_INJECT_BUILD`` names another folder than ``build``."""
    here = Path(__file__).resolve().parents[2] / "build"
    return Path(os.environ.get("TESSERA_INJECT_BUILD", here)) / component / name


def _not_built(component: str, name: str) -> Callable[[], bool]:
    return lambda: not _tool(component, name).exists()


def _program(*words: object) -> None:
    """Run a program as the command line would end by it: its messages, its exit status, its death."""
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL)
    if done.returncode < 0:
        os.kill(os.getpid(), -done.returncode)
    if done.returncode:
        sys.exit(done.returncode)


@contextmanager
def _trace(root: Path) -> Iterator[None]:
    """A trace of some random loads, and a scenario, outside the folder."""
    import numpy as np

    from tessera.core.scenarios import load_scenario
    from tests.simulator.conftest import RECORD

    folder = root.parent / "inputs"
    if not folder.exists():
        folder.mkdir()
        records = np.zeros(20_000, RECORD)
        records["ip"] = 0x401000
        records["loads"][:, 0] = (64 << 30) + np.random.default_rng(7).integers(0, 1 << 19, 20_000) * 64
        records.tofile(folder / "random.champsim")
        (folder / "scenario").write_text(load_scenario("thp-always").flat())
        _program(_tool("tracer", "tessera-trace"), "import-champsim", folder / "random.champsim",
                 folder / "random.tst", "--mmap-pool", "0x1000000000:0x1002000000")  # fmt: skip
    yield


_CONVERSIONS = {
    "import-champsim": ("random.champsim", ()),
    "export-champsim": ("random.tst", ()),
    "touches": ("random.tst", ()),
    "cut": ("random.tst", ("--start", "100", "--accesses", "5000")),
}


def _conversion(command: str) -> Run:
    name, words = _CONVERSIONS[command]

    def run(root: Path) -> None:
        made = root.parent / "inputs" / name
        _program(_tool("tracer", "tessera-trace"), command, made, root / "out", *words)

    return run


for _command in _CONVERSIONS:
    writer(f"trace-{_command}", "out", prepare=old(out="old\n"), world=_trace, debris=("out.*.partial",),
           missing=_not_built("tracer", "tessera-trace"))(_conversion(_command))  # fmt: skip


_EVENTS = Path(__file__).resolve().parents[1] / "traces" / "examples" / "phases.tst"


@writer("os-log", "out.oslog", prepare=old(out_oslog="old\n"), world=_trace,
        missing=_not_built("imitation", "tessera-os"))  # fmt: skip
def _(root: Path) -> None:
    inputs = root.parent / "inputs"
    _program(_tool("imitation", "tessera-os"), "run", "--trace", _EVENTS, "--scenario",
             inputs / "scenario", "--out", root / "out.oslog")  # fmt: skip


@writer("phys-snapshot", "state", prepare=old(state="old\n"), debris=("state.tmp",),
        missing=_not_built("imitation", "tessera-phys"))  # fmt: skip
def _(root: Path) -> None:
    _program(
        _tool("imitation", "tessera-phys"), "show", "--memory", "64MB", "--write-snapshot", root / "state"
    )


# Its message for a lock is that of a second preparation. Other code would move the code of recorded programs.
@writer("workload-prepare", "graph", prepare=old(graph="old\n"), beside=("graph.partial",), spared=("lock",),
        missing=_not_built("workloads", "graph"))  # fmt: skip
def _(root: Path) -> None:
    _program(_tool("workloads", "bfs"), "--scale", "4", "--threads", "1", "--prepare", root / "graph")


@writer("mosalloc-report", settled=("report.json",), blank=(rb"\d+",),
        missing=_not_built("mosalloc", "mosalloc-run"))  # fmt: skip
def _(root: Path) -> None:
    """The report of a run is made again with the run; what a fault leaves is no report."""
    layout = root.parent / "layout.csv"
    layout.write_text("type,pageSize,startOffset,endOffset\nmmap,-1,0,1048576\nbrk,-1,0,1048576\n")
    _program(
        _tool("mosalloc", "mosalloc-run"),
        "--layout",
        layout,
        "--report",
        root / "report.json",
        "--",
        "/bin/true",
    )


# The report, on synthetic results: an old report of one workload, a new one of another


@contextmanager
def _results(root: Path) -> Iterator[None]:
    """Results outside the folder; the figures, too."""
    from tessera.report import site
    from tests.synthetic import make_tree

    place = root.parent / "results"
    if not place.exists():
        for name in ("gups", "pr"):
            make_tree(place / name, (name,), ("sandybridge-sim",), host=False, broken=False)
    first, *others = site.PAGES
    pages = (first, *(replace(page, exists=lambda facts: False) for page in others))
    with (
        mock.patch.object(site, "collect_provenance", lambda *words: {}),
        mock.patch.object(site, "draw_figures", _drawn),
        mock.patch.object(site, "PAGES", pages),
    ):
        yield


def _drawn(results, reference: Path, out: Path, only: object, meanwhile: object):
    """One figure, and no claims; computing both takes most of the time of a report."""
    from tessera.core.files import write_text
    from tessera.core.results.report_tables import CLAIMS
    from tessera.core.results.table_io import empty_table
    from tessera.report.claims_table import Evaluated
    from tessera.report.figures.render import Drawn

    for suffix in ("svg", "csv"):
        write_text(out / f"fig2.{suffix}", f"{suffix} of {out.parent.name}\n")
    return [Drawn("fig2", "fig2", "Figure", "A figure.")], Evaluated(empty_table(CLAIMS), "not asked")


def _report(name: str) -> Run:
    def render(root: Path) -> None:
        from tessera.report.site import render_report

        render_report(root.parent / "results" / name, root / "report", with_pdf=False)

    return render


writer("report", "report/*", world=_results, prepare=_report("gups"), most=4)(_report("pr"))


@writer("figure", "x.svg", "x.csv", prepare=old(x_svg="old\n", x_csv="old\n"), most=8)
def _(root: Path) -> None:
    """A figure that has no room is no figure that can't be drawn."""
    from types import SimpleNamespace

    import pandas as pd

    from tessera.core import drawing
    from tessera.report.figures.render import write_figure

    def draw(results, reference):
        figure, axes = drawing.panels()
        axes.plot([1, 2])
        return figure, pd.DataFrame({"provenance": ["simulated"], "value": [1]})

    entry = SimpleNamespace(name="x", title="A figure", caption="It has a line.", per_pair=False, draw=draw)
    write_figure(entry, SimpleNamespace(trace_notes={}), root, root)


@contextmanager
def _recounted(root: Path) -> Iterator[None]:
    """Another count of a rehearsal: the bundle of the table with other noise."""
    from tessera.report import notebook_archive
    from tests.bundles.processor import Plan, made

    layouts = ("growing-0", "growing-8")
    files = made(Plan(layouts=layouts, rehearsal=True), seed=2).files
    with mock.patch.object(notebook_archive, "recounted_rehearsal", lambda bundle, cells: files):
        yield


def _rehearsal(root: Path) -> None:
    from tests.bundles.processor import Plan, made, put

    files = made(Plan(layouts=("growing-0", "growing-8"), rehearsal=True), seed=1).files
    put(files, root / "machines" / "bundles" / "broadwell-01234567-00000000")


@writer("rehearsal", "machines/bundles/*/SHA256SUMS", world=_recounted, prepare=_rehearsal, most=30)
def _(root: Path) -> None:
    from tessera.report.notebook_archive import renew_rehearsals

    renew_rehearsals(root, root, None)


@writer("copied-layouts", "to/*", prepare=old(from__a_csv="new\n", to__a_csv="old\n"))
def _(root: Path) -> None:
    from tessera.core.files import copy_file

    copy_file(root / "from" / "a.csv", root / "to" / "a.csv")
