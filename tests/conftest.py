"""Order of the suite: quick tests first, end to end last, so that a broken part is seen early."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

# An example may take long on a machine that does other work too: time limits are for benchmarks.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

ROOT = Path(__file__).resolve().parents[1]
LAST = ("bootstrap", "end_to_end")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stable sort: everything, then tests of the bootstrap, then end to end."""
    items.sort(key=lambda item: max((i + 1 for i, n in enumerate(LAST) if n in item.path.parts), default=0))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
