"""Order of the suite: quick tests first, end to end last, so that a broken part is seen early.

Tests that boot the guest for a program come behind those end to end, which build the kernel.

`./run test` runs the folders that are not in ALONE on all cores, a file at a time on each core.
Then it runs the others one by one.
"""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

# An example may take long on a machine that does other work too: time limits are for benchmarks.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

ROOT = Path(__file__).resolve().parents[1]
LAST = ("bootstrap", "end_to_end", "test_guest_map.py")
#: Folders whose tests reserve huge pages, measure time, use ports or the engine's images, or run `./run`.
ALONE = ("bootstrap", "container", "end_to_end", "host", "kernel", "mosalloc", "notebooks", "validation")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests as `alone` by their folder. Sorts: folders and files of `LAST` come last, in its order."""
    for item in items:
        if any(part in ALONE for part in item.path.relative_to(ROOT / "tests").parts):
            item.add_marker(pytest.mark.alone)
    items.sort(key=lambda item: max((i + 1 for i, n in enumerate(LAST) if n in item.path.parts), default=0))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
