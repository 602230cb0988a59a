"""Synthetic results trees for the tests of figures and report (tests/figures uses them too)."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bundles import processor
from tests.synthetic import PARTS, make_tree
from tests.synthetic.claims import claims

#: a run of three jobs on two cores
TIMELINE = """run,job,subject,started_s,ended_s,threads,outcome
2026-01-01T00:00:00Z,trace,gups,0.5,60.1,1,ok
2026-01-01T00:00:00Z,trace,xml-transform,0.5,30.2,1,failed
2026-01-01T00:00:00Z,cells,"gups, haswell-sim",60.2,90.4,2,ok
"""


def barred_bundle(tree: Path) -> None:
    """A bundle with too few rounds took part: it is shown, and decides nothing."""
    plan = processor.Plan(rounds=2, layouts=("growing-0", "growing-8", "1gb"))
    processor.put(processor.made(plan).files, tree / "machines" / "bundles" / "broadwell-01234567-00000000")


@pytest.fixture(scope="session")
def full_tree(tmp_path_factory):
    """Three workloads, two platforms and host cells, with one failed cell and one skipped pair."""
    root, platforms = tmp_path_factory.mktemp("full") / "default", ("sandybridge-sim", "broadwell-sim")
    tree = make_tree(root, platforms=platforms, parts=PARTS)
    barred_bundle(tree)
    (tree / "provenance").mkdir(exist_ok=True)
    (tree / "provenance" / "timeline.csv").write_text(TIMELINE)
    return tree


@pytest.fixture(scope="session")
def rendered(full_tree, tmp_path_factory):
    """The site of the full tree, rendered once, with the PDF; claims of every verdict. Not to be changed."""
    import tessera.report.claims
    from tessera.report import site

    def make(folder: Path) -> None:
        shutil.copytree(full_tree, folder / "default")
        before = tessera.report.claims.judged_claims
        tessera.report.claims.judged_claims = lambda *_: claims()
        try:
            site.render_report(folder / "default")
        finally:
            tessera.report.claims.judged_claims = before

    return once_per_run(tmp_path_factory, "rendered", make) / "default" / "report"


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One headless browser for all tests of this process."""
    from tests.report.browser import Browser

    one = Browser(tmp_path_factory.mktemp("browser"))
    yield one
    one.close()


def once_per_run(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder ``name`` that ``make`` filled in the first process that asked; the others wait for it.

    With `pytest --numprocesses`, each worker is a process with session fixtures of its own.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # of all workers of this run
    folder, done = base / name, base / f"{name}.done"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.touch()
    return folder


@pytest.fixture
def small_tree(tmp_path):
    """One workload on one platform, nothing missing; free to be damaged."""
    return make_tree(tmp_path / "small", ("gups",), ("sandybridge-sim",), host=False, broken=False)


@pytest.fixture
def five_claims(monkeypatch):
    """Claims as `tessera.report.claims` would return them: one of each verdict."""
    import tessera.report.claims

    table = claims()
    monkeypatch.setattr(tessera.report.claims, "judged_claims", lambda *_: table.copy(), raising=False)
    return table
