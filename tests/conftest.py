"""Order of the suite, and which tests need the machine for themselves.

`./run test` runs what is not `alone` on all cores, a file at a time on each core, long files first. Then it
runs the others one by one; those that boot the guest come last, because its kernel is built meanwhile.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import hypothesis
import pytest

# An example may take long on a machine that does other work too: time limits are for benchmarks.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

ROOT = Path(__file__).resolve().parents[1]
LAST = ("bootstrap", "end_to_end", "test_kernel.py", "test_guest_map.py")
#: Folders whose tests reserve huge pages, measure time, use ports or the engine's images, or run `./run`.
#: Single tests elsewhere have the mark `alone`.
ALONE = ("bootstrap", "container", "host", "kernel", "mosalloc", "validation")
#: Tests of one core, since they share the folder of a smoke run.
TOGETHER = "end_to_end/"
#: What takes longest (seconds of `--durations`), so that no core is left with it at the end.
LONGEST = (
    TOGETHER,
    "pipeline/test_walk.py",
    "report/test_site.py",
    "scenarios/test_commands.py",
    "traces/test_windows.py",
    "pipeline/test_dag.py",
    "numa/test_simulator.py",
    "report/test_browser.py",
    "studies/test_scenarios.py",
    "measure/test_fuzz.py",
    "simulate/test_weave.py",
    "figures/test_figures.py",
    "models/test_versions.py",
)


def _name(path: Path) -> str:
    return path.relative_to(ROOT / "tests").as_posix()


def _turn(item: pytest.Item) -> int:
    """On all cores the place among the longest; alone that among the last."""
    if hasattr(item.config, "workerinput"):
        return next((i for i, name in enumerate(LONGEST) if _name(item.path).startswith(name)), len(LONGEST))
    return max((i + 1 for i, name in enumerate(LAST) if name in item.path.parts), default=0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests as `alone` by their folder, and sorts them."""
    for item in items:
        if _name(item.path).split("/")[0] in ALONE:
            item.add_marker(pytest.mark.alone)
    items.sort(key=_turn)


def pytest_terminal_summary(terminalreporter) -> None:
    """Where the time went: seconds of the folders, so that the time of the whole stays known."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.split("/")[1]] += report.duration
    longest = ", ".join(f"{name} {spent:.0f}" for name, spent in seconds.most_common(12) if spent >= 1)
    if longest:
        terminalreporter.write_line(f"seconds of folders, longest first: {longest}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """`--dist loadfile` in the order above, with the files of ``TOGETHER`` as one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler.loadfile import LoadFileScheduling

    class InOrder(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return TOGETHER if f"/{TOGETHER}" in nodeid else super()._split_scope(nodeid)

    config.option.loadscopereorder = False
    return InOrder(config, log)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
